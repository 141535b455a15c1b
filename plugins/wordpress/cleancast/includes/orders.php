<?php
// Turns orders and refunds of WooCommerce into conversions. docs/reference/inbound.md has the fields.

defined('ABSPATH') || exit;

function cleancast_purchase(WC_Order $order): array
{
    $paid = $order->get_date_paid();
    return cleancast_customer($order) + [
        'event' => 'purchase',
        'value' => (float) $order->get_total(),
        'currency' => $order->get_currency(),
        'orderId' => (string) $order->get_order_number(),
        'eventTime' => $paid ? $paid->getTimestamp() : null,
        'items' => cleancast_items($order),
    ];
}

/** Each refund of an order has its own id, because an order may be refunded in several parts. */
function cleancast_refund(WC_Order $order, WC_Order_Refund $refund): array
{
    $at = $refund->get_date_created();
    return cleancast_customer($order) + [
        'event' => 'refund',
        'value' => abs((float) $refund->get_amount()),
        'currency' => $order->get_currency(),
        'orderId' => (string) $order->get_order_number(),
        'refundId' => (string) $refund->get_id(),
        'eventTime' => $at ? $at->getTimestamp() : null,
        'items' => cleancast_items($refund),
    ];
}

function cleancast_customer(WC_Order $order): array
{
    return [
        'email' => $order->get_billing_email(),
        'phone' => $order->get_billing_phone(),
        'firstName' => $order->get_billing_first_name(),
        'lastName' => $order->get_billing_last_name(),
    ];
}

/** @param WC_Order|WC_Order_Refund $order */
function cleancast_items($order): array
{
    $items = [];
    foreach ($order->get_items() as $item) {
        // A refund counts its pieces and amounts below zero.
        $quantity = (int) abs($item->get_quantity());
        if ($quantity < 1) {
            continue;
        }
        $product = $item->get_product();
        $sku = $product ? (string) $product->get_sku() : '';
        $items[] = [
            'id' => $sku !== '' ? $sku : (string) ($item->get_variation_id() ?: $item->get_product_id()),
            'name' => $item->get_name(),
            'price' => round(abs((float) $item->get_total()) / $quantity, 4),
            'quantity' => $quantity,
        ];
    }
    // The relay takes at most 100.
    return array_slice($items, 0, 100);
}
