<?php
/**
 * Plugin Name: Cleancast
 * Plugin URI: https://example.com/cleancast
 * Author: The Cleancast authors
 * Description: Adds the Cleancast tag with consent, and reports paid orders and refunds of WooCommerce in the background.
 * Version: 0.3.0
 * Requires at least: 6.0
 * Requires PHP: 7.4
 * License: MIT
 * License URI: https://opensource.org/licenses/MIT
 * Text Domain: cleancast
 */

defined('ABSPATH') || exit;

define('CLEANCAST_FILE', __FILE__);

require __DIR__ . '/includes/settings.php';
require __DIR__ . '/includes/relay.php';
require __DIR__ . '/includes/tag.php';
require __DIR__ . '/includes/orders.php';
require __DIR__ . '/includes/jobs.php';
if (is_admin()) {
    require __DIR__ . '/includes/page.php';
}

// The plugin reads orders through WooCommerce's functions only, so it works with orders in their own tables too. Without this
// declaration WooCommerce warns about it.
add_action('before_woocommerce_init', function (): void {
    if (class_exists('Automattic\\WooCommerce\\Utilities\\FeaturesUtil')) {
        Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility('custom_order_tables', __FILE__, true);
    }
});
