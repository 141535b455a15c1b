<?php
// Adds the tag to every page, with the visitor's decision from the WP Consent API.

defined('ABSPATH') || exit;

// The WP Consent API registers its script very late, and this has to know if it is there.
add_action('wp_enqueue_scripts', 'cleancast_enqueue_tag', PHP_INT_MAX);
// Declares to the WP Consent API that this plugin uses it.
add_filter('wp_consent_api_registered_' . plugin_basename(CLEANCAST_FILE), '__return_true');

function cleancast_enqueue_tag(): void
{
    $settings = cleancast_settings();
    if (!$settings['tag'] || cleancast_address_error($settings['url']) !== '') {
        return;
    }
    // The script of the WP Consent API has to be there first, where that plugin is active.
    $after = wp_script_is('wp-consent-api', 'registered') ? ['wp-consent-api'] : [];
    wp_enqueue_script('cleancast', plugins_url('consent.js', CLEANCAST_FILE), $after, '0.3.0', true);
    $config = ['tag' => untrailingslashit($settings['url']) . '/__cc/tag.js'];
    wp_add_inline_script('cleancast', 'window.cleancastTag=' . wp_json_encode($config) . ';', 'before');
}
