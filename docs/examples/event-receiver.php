<?php
// A receiver for the conversions that the platform `webhook` sends, in PHP, without dependencies.
//
//   WEBHOOK_SECRET=whsec_… php -S 0.0.0.0:8090 event-receiver.php

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 1024 * 1024;

/** Checks the signature (Standard Webhooks). While the secret is rotated there are two, and one of them must match. */
function is_genuine(string $secret, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    // Refuse replayed old requests.
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = (string) base64_decode(substr($secret, strlen('whsec_')), true);
    $signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
        // hash_equals compares in constant time.
        if (hash_equals($signature, $given)) {
            return true;
        }
    }
    return false;
}

/** In your own receiver, store the id in your database, in one transaction with the conversion. */
function is_new(string $id): bool
{
    $file = fopen(getenv('SEEN_FILE') ?: sys_get_temp_dir() . '/cleancast-seen.json', 'c+');
    flock($file, LOCK_EX);
    $seen = json_decode(stream_get_contents($file) ?: '', true) ?? [];
    $isNew = !isset($seen[$id]);
    if ($isNew) {
        $seen[$id] = true;
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, json_encode($seen));
    }
    fclose($file);
    return $isNew;
}

$secret = getenv('WEBHOOK_SECRET') ?: '';
$body = (string) file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
$isOurs = str_starts_with($secret, 'whsec_') && strlen($body) <= MAX_BODY_BYTES && is_genuine($secret, $body);
if ($_SERVER['REQUEST_METHOD'] !== 'POST' || !$isOurs) {
    http_response_code(401);
    exit;
}
// A conversion may arrive twice (if its answer was lost), with the same id. Test events are marked.
$isTest = ($_SERVER['HTTP_X_CC_TEST'] ?? '') === 'true';
if (!$isTest && is_new($_SERVER['HTTP_WEBHOOK_ID'])) {
    $sent = json_decode($body, true);
    $line = implode(' ', [$sent['event'], $sent['orderId'], $sent['value'], $sent['currency']]);
    file_put_contents('php://stdout', "$line\n");
}
http_response_code(200);
