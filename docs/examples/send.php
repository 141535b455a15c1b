<?php
// Sends a conversion, and again while that may help. PHP 8, no packages, no curl extension.

function send_conversion(array $conversion): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'X-CC-Api-Key: ' . getenv('CLEANCAST_KEY'), // cc_…
            'Content-Type: application/json',
        ],
        'content' => json_encode($conversion, JSON_THROW_ON_ERROR),
        'timeout' => 15,
        'ignore_errors' => true,
        'follow_location' => 0,
    ]]);
    for ($attempt = 1; ; $attempt++) {
        $http_response_header = [];
        // https://shop.example.com/__cc/inbound
        $body = @file_get_contents(getenv('CLEANCAST_INBOUND'), false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        if ($status === 200) {
            return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
        }
        // 4xx: the request is wrong and stays wrong. Anything else may pass later; a repeat is never counted twice.
        $may_pass = $status === 0 || $status === 429 || $status >= 500;
        if (!$may_pass || $attempt === 4) {
            throw new RuntimeException($status ? "$status $body" : 'no answer');
        }
        sleep(2 ** $attempt);
    }
}

$answer = send_conversion([
    'email' => 'ada@example.com',
    'event' => 'purchase',
    'value' => 49.9,
    'currency' => 'EUR',
    'orderId' => 'A-1004',
]);
echo json_encode($answer), "\n";
