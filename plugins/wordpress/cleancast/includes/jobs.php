<?php
// Reports orders in background jobs of Action Scheduler, which is part of WooCommerce: no customer waits, and nothing is lost
// while the relay is unreachable.

defined('ABSPATH') || exit;

const CLEANCAST_JOB = 'cleancast_send';
const CLEANCAST_GROUP = 'cleancast';
/** With waits that double from one minute to a day, the last attempt is about a week after the first. */
const CLEANCAST_MAX_ATTEMPTS = 18;

// An order becomes "processing", "completed", or first one and then the other: the relay counts the second report as a repeat.
add_action('woocommerce_order_status_processing', 'cleancast_order_paid');
add_action('woocommerce_order_status_completed', 'cleancast_order_paid');
add_action('woocommerce_order_refunded', 'cleancast_order_refunded', 10, 2);
add_action(CLEANCAST_JOB, 'cleancast_run_job', 10, 3);

function cleancast_order_paid($order_id): void
{
    cleancast_enqueue((int) $order_id, 0);
}

function cleancast_order_refunded($order_id, $refund_id): void
{
    cleancast_enqueue((int) $order_id, (int) $refund_id);
}

function cleancast_enqueue(int $order_id, int $refund_id): void
{
    $settings = cleancast_settings();
    // Before the plugin is set up there is no relay that could be asked.
    if ($settings['url'] === '' || $settings['key'] === '') {
        return;
    }
    $arguments = [$order_id, $refund_id, 1];
    if (!as_has_scheduled_action(CLEANCAST_JOB, $arguments, CLEANCAST_GROUP)) {
        as_enqueue_async_action(CLEANCAST_JOB, $arguments, CLEANCAST_GROUP);
    }
}

/** A job has the ids only: the customer's data stays in the order. */
function cleancast_run_job(int $order_id, int $refund_id, int $attempt): void
{
    $order = wc_get_order($order_id);
    $refund = $refund_id ? wc_get_order($refund_id) : null;
    // An order or refund that was deleted, or has no address, cannot be reported.
    if (!$order instanceof WC_Order || !$order->get_billing_email() || ($refund_id && !$refund instanceof WC_Order_Refund)) {
        return;
    }
    $answer = cleancast_post($refund ? cleancast_refund($order, $refund) : cleancast_purchase($order));
    if ($answer['ok']) {
        return;
    }
    if ($answer['retryable'] && $attempt < CLEANCAST_MAX_ATTEMPTS) {
        $wait = max($answer['retry_after'], min(60 * 2 ** ($attempt - 1), 86400));
        $again = [$order_id, $refund_id, $attempt + 1];
        as_schedule_single_action(time() + $wait, CLEANCAST_JOB, $again, CLEANCAST_GROUP);
        return;
    }
    // Action Scheduler shows the text under WooCommerce > Status > Scheduled Actions > Failed.
    throw new RuntimeException("Cleancast: {$answer['status']} {$answer['error']}");
}
