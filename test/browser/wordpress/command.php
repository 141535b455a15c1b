<?php
// Runs one command in WordPress: {call, arguments} from standard input, or its installation with WP_INSTALLING.

$_SERVER += ['HTTP_HOST' => getenv('WORDPRESS_HOST'), 'REQUEST_METHOD' => 'GET', 'REQUEST_URI' => '/', 'REMOTE_ADDR' => '127.0.0.1'];
$input = json_decode(stream_get_contents(STDIN), true);
if ($input['call'] === 'wp_install') {
    define('WP_INSTALLING', true);
}
require $argv[1] . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';
// A mail about the installation would need a mail server.
add_filter('pre_wp_mail', '__return_true');
$answer = call_user_func_array($input['call'], $input['arguments']);
echo "\n" . wp_json_encode(is_wp_error($answer) ? ['error' => $answer->get_error_message()] : ['answer' => $answer]);
