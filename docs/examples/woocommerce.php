<?php
/**
 * Plugin Name: Conversions to Cleancast
 * Description: Reports paid orders and full refunds of WooCommerce.
 *
 * In wp-config.php:
 *   define('CLEANCAST_INBOUND', 'https://shop.example.com/__cc/inbound');
 *   define('CLEANCAST_KEY', 'cc_…');
 */

defined('ABSPATH') || exit;

// Runs in the background, so that no customer waits. An order can become "processing", "completed", or first one and then the
// other: the second report of the same order is not counted.
foreach (['processing', 'completed'] as $status) {
    add_action("woocommerce_order_status_$status", fn ($order_id) => cleancast_later($order_id, 'purchase'));
}
add_action('woocommerce_order_fully_refunded', fn ($order_id) => cleancast_later($order_id, 'refund'));
add_action('cleancast_send', 'cleancast_send', 10, 3);

function cleancast_later(int $order_id, string $event): void
{
    as_enqueue_async_action('cleancast_send', [$order_id, $event, 1], 'cleancast');
}

function cleancast_send(int $order_id, string $event, int $attempt): void
{
    $order = wc_get_order($order_id);
    if (!$order || !$order->get_billing_email()) {
        return;
    }
    $total = $order->get_total();
    // (float) of an unreadable text is 0: fail instead, so that the order is listed as failed.
    if (!is_numeric($total) || !is_finite((float) $total) || !$order->get_order_number()) {
        throw new RuntimeException("Cleancast: order $order_id has no number or its total is not one: \"$total\"");
    }
    $paid = $order->get_date_paid();
    $answer = wp_remote_post(CLEANCAST_INBOUND, [
        'timeout' => 15,
        'redirection' => 0,
        'headers' => ['X-CC-Api-Key' => CLEANCAST_KEY, 'Content-Type' => 'application/json'],
        'body' => wp_json_encode([
            'email' => $order->get_billing_email(),
            'event' => $event,
            'value' => (float) $total,
            'currency' => $order->get_currency(),
            'orderId' => $order->get_order_number(),
            'eventTime' => $event === 'purchase' && $paid ? $paid->getTimestamp() : null,
            'phone' => $order->get_billing_phone(),
            'firstName' => $order->get_billing_first_name(),
            'lastName' => $order->get_billing_last_name(),
        ]),
    ]);
    $status = is_wp_error($answer) ? 0 : (int) wp_remote_retrieve_response_code($answer);
    $body = wp_remote_retrieve_body($answer);
    // Only the relay answers ok: true; a proxy in between may also answer 200.
    if ($status === 200 && (json_decode($body, true)['ok'] ?? null) === true) {
        return;
    }
    // A 4xx error is permanent. Anything else may succeed later.
    if ((in_array($status, [0, 200, 429], true) || $status >= 500) && $attempt < 10) {
        $again = [$order_id, $event, $attempt + 1];
        as_schedule_single_action(time() + 60 * 2 ** $attempt, 'cleancast_send', $again, 'cleancast');
        return;
    }
    // Action Scheduler shows it under WooCommerce > Status > Scheduled Actions > Failed.
    throw new RuntimeException("Cleancast: $status $body");
}
