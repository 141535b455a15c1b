<?php
// Runs when the plugin is deleted: removes its setting, its jobs with their logs, and nothing else.

defined('WP_UNINSTALL_PLUGIN') || exit;

global $wpdb;

foreach (is_multisite() ? get_sites(['fields' => 'ids', 'number' => 0]) : [get_current_blog_id()] as $cleancast_site) {
    if (is_multisite()) {
        switch_to_blog($cleancast_site);
    }
    delete_option('cleancast');
    $cleancast_actions = $wpdb->prefix . 'actionscheduler_actions';
    // The tables belong to Action Scheduler, which is there only with WooCommerce. Its functions cancel jobs but keep their rows.
    if ($wpdb->get_var($wpdb->prepare('SHOW TABLES LIKE %s', $wpdb->esc_like($cleancast_actions))) === $cleancast_actions) {
        $cleancast_logs = $wpdb->prefix . 'actionscheduler_logs';
        $wpdb->query($wpdb->prepare(
            "DELETE FROM $cleancast_logs WHERE action_id IN (SELECT action_id FROM $cleancast_actions WHERE hook = %s)",
            'cleancast_send'
        ));
        $wpdb->query($wpdb->prepare("DELETE FROM $cleancast_actions WHERE hook = %s", 'cleancast_send'));
        $wpdb->query($wpdb->prepare("DELETE FROM {$wpdb->prefix}actionscheduler_groups WHERE slug = %s", 'cleancast'));
    }
    if (is_multisite()) {
        restore_current_blog();
    }
}
