<?php
// Sends one request. It does not repeat: the jobs do, hours later if necessary.

defined('ABSPATH') || exit;

/**
 * @return array{ok: bool, status: int, error: string, retryable: bool, retry_after: int}
 */
function cleancast_post(array $body, string $path = '/__cc/inbound'): array
{
    $settings = cleancast_settings();
    $wrong = cleancast_address_error($settings['url']) ?: cleancast_key_error($settings['key']);
    if ($wrong !== '') {
        // The settings can be corrected while a job waits.
        return ['ok' => false, 'status' => 0, 'error' => $wrong, 'retryable' => true, 'retry_after' => 0];
    }
    $answer = wp_remote_post(untrailingslashit($settings['url']) . $path, [
        'timeout' => 15,
        // A redirect would send the key to another address.
        'redirection' => 0,
        'limit_response_size' => 1024 * 1024,
        'headers' => ['X-CC-Api-Key' => $settings['key'], 'Content-Type' => 'application/json'],
        'body' => wp_json_encode($body),
    ]);
    $status = is_wp_error($answer) ? 0 : (int) wp_remote_retrieve_response_code($answer);
    $text = is_wp_error($answer) ? 'no answer: ' . $answer->get_error_message() : (string) wp_remote_retrieve_body($answer);
    $answered = json_decode($text, true);
    // Only the relay answers ok: true; a proxy in between may also answer 200.
    $ok = $status === 200 && is_array($answered) && ($answered['ok'] ?? null) === true;
    $error = is_array($answered) && is_string($answered['error'] ?? null) ? $answered['error'] : wp_strip_all_tags($text);
    $retry_after = is_wp_error($answer) ? '' : (string) wp_remote_retrieve_header($answer, 'retry-after');
    return [
        'ok' => $ok,
        'status' => $status,
        // A proxy or an error page may repeat the request's headers.
        'error' => $ok ? '' : substr(str_replace($settings['key'], '[key]', $error), 0, 300),
        // A 4xx error is permanent. Anything else may succeed later; a repeat is never counted twice.
        'retryable' => !$ok && (in_array($status, [0, 200, 429], true) || $status >= 500),
        'retry_after' => ctype_digit($retry_after) ? (int) $retry_after : 0,
    ];
}

/** The relay checks the key and accepts an empty batch, so the test of a connection leaves neither an event nor a rejected request. */
function cleancast_test_connection(): array
{
    $answer = cleancast_post(['events' => []], '/__cc/inbound/batch');
    if ($answer['ok']) {
        return ['ok' => true, 'text' => __('Connected: the relay accepts the key.', 'cleancast')];
    }
    if ($answer['status'] === 0) {
        return ['ok' => false, 'text' => $answer['error']];
    }
    /* translators: 1: HTTP status, 2: error */
    $text = sprintf(__('The relay answered %1$d: %2$s', 'cleancast'), $answer['status'], $answer['error']);
    return ['ok' => false, 'text' => $text];
}
