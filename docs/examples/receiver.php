<?php
// A receiver for Cleancast's outbound webhook, in PHP, without dependencies.
//
//   WEBHOOK_SECRET=whsec_… php -S 0.0.0.0:8090 receiver.php
//
// While you rotate the secret, set both, the new one first: WEBHOOK_SECRET=whsec_new,whsec_old

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 64 * 1024;

function is_genuine(array $secrets, string $body): bool
{
    $bearer = $_SERVER['HTTP_AUTHORIZATION'] ?? '';
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    // hash_equals compares in constant time.
    $known = array_filter($secrets, fn (string $secret) => hash_equals("Bearer $secret", $bearer));
    if ($known === []) {
        return false;
    }
    // Refuse replayed old messages.
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $given = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    foreach ($secrets as $secret) {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        $signature = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", (string) $key, true));
        foreach ($given as $one) {
            if (hash_equals($signature, $one)) {
                return true;
            }
        }
    }
    return false;
}

/** In your own receiver, store these in your database, in one transaction with the totals. */
function count_once(string $id, bool $isTest, array $push): array
{
    $file = fopen(getenv('TOTALS_FILE') ?: sys_get_temp_dir() . '/cleancast-totals.json', 'c+');
    flock($file, LOCK_EX);
    $kept = json_decode(stream_get_contents($file) ?: '', true)
        ?? ['seen' => [], 'totals' => ['conversions' => 0, 'bot_traffic_removed' => 0]];
    // A push may arrive twice (if its answer was lost), with the same id. Tests are not counted.
    if (!isset($kept['seen'][$id]) && !$isTest) {
        $kept['seen'][$id] = true;
        $kept['totals']['conversions'] += $push['conversions'];
        $kept['totals']['bot_traffic_removed'] += $push['bot_traffic_removed'];
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, json_encode($kept));
    }
    fclose($file);
    return $kept['totals'];
}

$secrets = array_values(array_filter(explode(',', getenv('WEBHOOK_SECRET') ?: '')));
$body = (string) file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
if ($_SERVER['REQUEST_METHOD'] !== 'POST' || strlen($body) > MAX_BODY_BYTES || !is_genuine($secrets, $body)) {
    http_response_code(401);
    exit;
}
$isTest = ($_SERVER['HTTP_X_CC_TEST'] ?? '') === 'true';
$totals = count_once($_SERVER['HTTP_WEBHOOK_ID'], $isTest, json_decode($body, true));
file_put_contents('php://stdout', ($_SERVER['HTTP_X_CC_PERIOD'] ?? '') . ' ' . json_encode($totals) . "\n");
http_response_code(200);
