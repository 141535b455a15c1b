<?php
/**
 * Plugin Name: Doubles of WooCommerce and the WP Consent API
 *
 * Has what the Cleancast plugin uses of WooCommerce, of its Action Scheduler (with the real tables, in the real database), and
 * of the WP Consent API, with their documented names, arguments and results.
 */

defined('ABSPATH') || exit;

register_activation_hook(__FILE__, function (): void {
    global $wpdb;
    $actions = $wpdb->prefix . 'actionscheduler_actions';
    $wpdb->query("CREATE TABLE $actions (action_id bigint(20) unsigned NOT NULL auto_increment PRIMARY KEY, hook varchar(191) NOT NULL,
        status varchar(20) NOT NULL, scheduled_date_gmt datetime NULL, args varchar(191), group_id bigint(20) unsigned NOT NULL)");
    $wpdb->query("CREATE TABLE {$wpdb->prefix}actionscheduler_logs (log_id bigint(20) unsigned NOT NULL auto_increment PRIMARY KEY,
        action_id bigint(20) unsigned NOT NULL, message text NOT NULL)");
    $wpdb->query("CREATE TABLE {$wpdb->prefix}actionscheduler_groups (group_id bigint(20) unsigned NOT NULL auto_increment PRIMARY KEY,
        slug varchar(255) NOT NULL)");
});

function double_group(string $slug): int
{
    global $wpdb;
    $found = $wpdb->get_var($wpdb->prepare("SELECT group_id FROM {$wpdb->prefix}actionscheduler_groups WHERE slug = %s", $slug));
    if (!$found) {
        $wpdb->insert("{$wpdb->prefix}actionscheduler_groups", ['slug' => $slug]);
    }
    return (int) ($found ?: $wpdb->insert_id);
}

function double_log(int $action_id, string $message): void
{
    global $wpdb;
    $wpdb->insert("{$wpdb->prefix}actionscheduler_logs", ['action_id' => $action_id, 'message' => $message]);
}

function as_schedule_single_action(int $timestamp, string $hook, array $args = [], string $group = ''): int
{
    global $wpdb;
    $wpdb->insert("{$wpdb->prefix}actionscheduler_actions", [
        'hook' => $hook,
        'status' => 'pending',
        'scheduled_date_gmt' => gmdate('Y-m-d H:i:s', $timestamp),
        'args' => wp_json_encode($args),
        'group_id' => double_group($group),
    ]);
    $id = (int) $wpdb->insert_id;
    double_log($id, 'action created');
    return $id;
}

function as_enqueue_async_action(string $hook, array $args = [], string $group = ''): int
{
    return as_schedule_single_action(time(), $hook, $args, $group);
}

function as_has_scheduled_action(string $hook, ?array $args = null, string $group = ''): bool
{
    global $wpdb;
    return (bool) $wpdb->get_var($wpdb->prepare(
        "SELECT action_id FROM {$wpdb->prefix}actionscheduler_actions
         WHERE status IN ('pending', 'in-progress') AND hook = %s AND args = %s AND group_id = %d",
        $hook,
        wp_json_encode($args),
        double_group($group)
    ));
}

/** Runs what is due at a time, as the queue runner does: an exception fails the action and is logged. */
function double_run_queue(int $now): void
{
    global $wpdb;
    $actions = "{$wpdb->prefix}actionscheduler_actions";
    $due = $wpdb->get_results($wpdb->prepare(
        "SELECT * FROM $actions WHERE status = 'pending' AND scheduled_date_gmt <= %s ORDER BY action_id",
        gmdate('Y-m-d H:i:s', $now)
    ));
    foreach ($due as $action) {
        $status = 'complete';
        try {
            do_action_ref_array($action->hook, array_values(json_decode($action->args, true)));
        } catch (Throwable $error) {
            $status = 'failed';
            double_log((int) $action->action_id, 'action failed via WP Cron: ' . $error->getMessage());
        }
        $wpdb->update($actions, ['status' => $status], ['action_id' => $action->action_id]);
    }
}

/** Answers get_…() with the field of that name. */
abstract class Double_Record
{
    private array $data;
    public function __construct(array $data)
    {
        $this->data = $data;
    }
    public function __call(string $name, array $arguments)
    {
        $value = $this->data[substr($name, 4)] ?? '';
        return strpos($name, 'get_date_') !== 0 ? $value : ($value === '' ? null : new DateTime("@$value"));
    }
    public function get_items(): array
    {
        return array_map(fn (array $item) => new WC_Order_Item_Product($item), $this->data['items'] ?? []);
    }
    public function get_product()
    {
        return $this->get_sku() === '' ? false : new WC_Product(['sku' => $this->get_sku()]);
    }
}
class WC_Product extends Double_Record {}
class WC_Order_Item_Product extends Double_Record {}
class WC_Order extends Double_Record {}
class WC_Order_Refund extends Double_Record {}

function wc_get_order($id)
{
    $found = get_option("double_order_$id");
    return is_array($found) ? new $found['class']($found) : false;
}

// The WP Consent API enqueues its script as late as this. The type of consent is a setting of the test.
add_action('wp_enqueue_scripts', function (): void {
    $type = get_option('double_consent_type', 'off');
    if ($type === 'off') {
        return;
    }
    wp_enqueue_script('wp-consent-api', plugins_url('wp-consent-api.js', __FILE__), [], '1.0', true);
    wp_localize_script('wp-consent-api', 'consent_api', [
        'consent_type' => $type === 'wait' ? '' : $type,
        'waitfor_consent_hook' => $type === 'wait',
        'cookie_expiration' => 30,
        'cookie_prefix' => 'wp_consent',
    ]);
}, PHP_INT_MAX - 100);
