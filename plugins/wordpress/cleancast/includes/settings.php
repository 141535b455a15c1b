<?php
// One option holds all settings. wp-config.php goes first, so that a key need not be in the database.

defined('ABSPATH') || exit;

/** @return array{url: string, key: string, tag: bool} */
function cleancast_settings(): array
{
    $stored = get_option('cleancast', []);
    $stored = is_array($stored) ? $stored : [];
    return [
        'url' => defined('CLEANCAST_URL') ? (string) CLEANCAST_URL : (string) ($stored['url'] ?? ''),
        'key' => defined('CLEANCAST_KEY') ? (string) CLEANCAST_KEY : (string) ($stored['key'] ?? ''),
        'tag' => (bool) ($stored['tag'] ?? true),
    ];
}

/** Returns what is wrong with an address, or ''. */
function cleancast_address_error(string $url): string
{
    $parts = wp_parse_url($url);
    $host = is_array($parts) ? ($parts['host'] ?? '') : '';
    if ($host === '' || !in_array($parts['scheme'] ?? '', ['http', 'https'], true)) {
        return __('The address must be the one of your relay, such as https://shop.example.com.', 'cleancast');
    }
    if ($parts['scheme'] === 'http' && !in_array($host, ['localhost', '127.0.0.1'], true)) {
        return __('The address must begin with https://: the key would be readable on the way.', 'cleancast');
    }
    if (isset($parts['user']) || isset($parts['pass'])) {
        return __('The address must not contain a user name or password.', 'cleancast');
    }
    return '';
}

/** Returns what is wrong with a key, or ''. The text does not repeat the key. */
function cleancast_key_error(string $key): string
{
    return preg_match('/^cc_\w+$/D', $key) ? '' : __('The key must be an inbound key, which begins with cc_.', 'cleancast');
}
