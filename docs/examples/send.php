<?php
// Sends a conversion and retries temporary failures for two minutes. PHP 8, no dependencies, no curl extension.

function send_conversion(array $conversion): array
{
    check_conversion($conversion);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'X-CC-Api-Key: ' . getenv('CLEANCAST_KEY'), // cc_…
            'Content-Type: application/json',
        ],
        'content' => json_encode($conversion, JSON_THROW_ON_ERROR),
        'timeout' => 15,
        'ignore_errors' => true,
        'follow_location' => 0, // the key goes to no other address
    ]]);
    for ($attempt = 1; ; $attempt++) {
        $http_response_header = [];
        // https://shop.example.com/__cc/inbound
        $body = @file_get_contents(getenv('CLEANCAST_INBOUND'), false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        $answer = $status === 200 ? json_decode($body, true) : null;
        // Only the relay answers ok: true; a proxy in between may also answer 200.
        if (($answer['ok'] ?? null) === true) {
            return $answer;
        }
        // A 4xx error is permanent. Anything else may succeed later; a repeat is never counted twice.
        $may_pass = in_array($status, [0, 200, 429], true) || $status >= 500;
        if (!$may_pass || $attempt === 7) {
            $cause = error_get_last()['message'] ?? '';
            throw new RuntimeException($status ? "$status $body" : "no answer: $cause");
        }
        sleep(seconds_to_wait($http_response_header, $attempt));
    }
}

/** Stops an amount that is no number, and an empty order id: without one, repeats are detected for an hour only. */
function check_conversion(array $conversion): void
{
    $value = $conversion['value'] ?? 0;
    if (!(is_int($value) || is_float($value)) || !is_finite($value)) {
        throw new InvalidArgumentException('value is not a number: ' . var_export($value, true));
    }
    if (($conversion['orderId'] ?? '') === '') {
        throw new InvalidArgumentException('orderId is empty');
    }
}

/** Reads Retry-After, in seconds or as a date; at most a minute. */
function seconds_to_wait(array $headers, int $attempt): int
{
    $seconds = 0;
    foreach ($headers as $header) {
        if (preg_match('/^Retry-After:\s*(\S.*)$/i', $header, $found)) {
            $seconds = ctype_digit($found[1]) ? (int) $found[1] : strtotime($found[1]) - time();
        }
    }
    return min($seconds > 0 ? $seconds : 2 ** $attempt, 60);
}

// Sends an example if you run this file, and nothing if you include it.
if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $answer = send_conversion([
        'email' => 'php@example.com',
        'event' => 'purchase',
        'value' => 49.9,
        'currency' => 'EUR',
        'orderId' => 'PHP-1',
    ]);
    echo json_encode($answer), "\n";
}
