<?php
// `php tests/run.php`, without a test framework. What needs a relay runs only with CLEANCAST_URL and CLEANCAST_KEY, an inbound key
// of a site that is connected to the sandbox alone.

declare(strict_types=1);

use Cleancast\Cleancast;
use Cleancast\CleancastException;

require __DIR__ . '/../cleancast.php';

$failed = 0;

function check(string $what, mixed $expected, mixed $actual): void
{
    global $failed;
    // Compares values, not the order of keys.
    $ok = $expected == $actual;
    $failed += $ok ? 0 : 1;
    echo $ok ? 'ok' : 'not ok', " - $what\n";
    if (!$ok) {
        echo '  expected ', json_encode($expected), "\n  actual   ", json_encode($actual), "\n";
    }
}

function accepted(string $event): array
{
    return ['ok' => true, 'event' => $event, 'results' => ['sandbox' => ['ok' => true]]];
}

$url = getenv('CLEANCAST_URL');
$key = getenv('CLEANCAST_KEY');
if ($url && $key) {
    $client = new Cleancast($url, $key, budget: 60.0);
    $order = ['email' => 'ada@example.com', 'currency' => 'EUR', 'orderId' => bin2hex(random_bytes(8))];
    $purchase = $order + [
        'event' => 'purchase',
        'value' => 49.9,
        'items' => [['id' => 'SKU-1', 'name' => 'Mug', 'price' => 24.95, 'quantity' => 2]],
        'clickIds' => ['gclid' => 'Cj0KCQiA'],
        'clickTime' => time(),
        'leadId' => '123456789012345',
    ];
    check('a relay accepts an order with all its fields', accepted('purchase'), $client->send($purchase));
    check('and once', ['ok' => true, 'deduped' => true], $client->send($purchase));
    foreach (['R-1', 'R-2'] as $refundId) {
        $answer = $client->send($order + ['event' => 'refund', 'value' => 5, 'refundId' => $refundId]);
        check("and its refund $refundId", 'refund', $answer['event'] ?? null);
    }
    $lead = ['email' => 'ada@example.com', 'event' => 'lead', 'orderId' => bin2hex(random_bytes(8))];
    $refused = ['ok' => false, 'status' => 400, 'error' => 'email or hashed_email required', 'retryable' => false];
    check('each conversion of a batch is answered', [accepted('lead'), $refused], $client->sendBatch([$lead, ['event' => 'lead']]));
} else {
    echo "ok - SKIP: CLEANCAST_URL and CLEANCAST_KEY are not set, so no relay is asked\n";
}

function failAt(string $url, float $timeout = 14.0): string
{
    // The first wait is longer than the budget, so there is one attempt.
    $client = new Cleancast($url, 'cc_secret0123456789', timeout: $timeout, budget: 14.0, firstDelay: 30.0);
    try {
        $client->send(['email' => 'ada@example.com', 'event' => 'lead']);
    } catch (CleancastException $error) {
        check("the error has PHP's own: {$error->getPrevious()?->getMessage()}", true, $error->getPrevious() !== null);
        check('and no key', false, str_contains("$error", 'cc_secret'));
        return $error->getMessage();
    }
    return 'accepted';
}

$silent = stream_socket_server('tcp://127.0.0.1:0');
$port = parse_url('tcp://' . stream_socket_get_name($silent, false), PHP_URL_PORT);
check('a host that does not exist', 'no answer: the host name was not found', failAt('https://nope.invalid'));
check('silence', 'no answer: nothing within 0.2 seconds', failAt("http://127.0.0.1:$port", 0.2));
fclose($silent);
check('a port that nothing listens on', 'no answer: connection refused', failAt("http://127.0.0.1:$port"));
if (extension_loaded('openssl')) {
    // Another process, because this one waits for the answer.
    $code = '$s = stream_socket_server("tcp://127.0.0.1:0"); echo stream_socket_get_name($s, false), "\n";
        $c = stream_socket_accept($s, 600); fwrite($c, "HTTP/1.1 400 Bad Request\r\n\r\n"); fclose($c);';
    $plain = proc_open([PHP_BINARY, '-r', $code], [1 => ['pipe', 'w']], $pipes);
    $address = trim((string) fgets($pipes[1]));
    check('TLS on a plain port', 'no answer: TLS failed', failAt("https://$address"));
    proc_terminate($plain);
    proc_close($plain);
}
exit($failed > 0 ? 1 : 0);
