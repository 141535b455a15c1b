<?php
// Runs one call of the PHP client per line. See languages.ts.

declare(strict_types=1);

use Cleancast\Cleancast;
use Cleancast\CleancastException;

require $argv[1];

function shown(array $outcome): array
{
    if (isset($outcome['retryAfter'])) {
        $outcome['retryAfterMs'] = (int) round($outcome['retryAfter'] * 1000);
        unset($outcome['retryAfter']);
    }
    // PHP cannot tell an empty object from an empty list.
    if (($outcome['results'] ?? null) === []) {
        $outcome['results'] = (object) [];
    }
    return $outcome;
}

function run(string $call, #[SensitiveParameter] array $options, #[SensitiveParameter] array $conversions): array
{
    try {
        $client = new Cleancast(
            $options['url'],
            $options['key'],
            timeout: $options['timeoutMs'] / 1000,
            budget: $options['budgetMs'] / 1000,
            batchBudget: $options['budgetMs'] / 1000,
            firstDelay: $options['firstDelayMs'] / 1000,
        );
    } catch (InvalidArgumentException $error) {
        return ['invalid' => $error->getMessage(), 'dump' => (string) $error];
    }
    ob_start();
    var_dump($client);
    $dump = ob_get_clean() . print_r($client, true) . var_export($client, true);
    try {
        if ($call === 'sendBatch') {
            return ['outcomes' => array_map(shown(...), $client->sendBatch($conversions)), 'dump' => $dump];
        }
        return ['outcomes' => [shown($client->send($conversions[0]))], 'dump' => $dump];
    } catch (CleancastException $error) {
        $outcome = [
            'ok' => false,
            'status' => $error->status,
            'error' => $error->getMessage(),
            'retryable' => $error->retryable,
        ] + ($error->retryAfter === null ? [] : ['retryAfter' => $error->retryAfter]);
        return ['outcomes' => [shown($outcome)], 'dump' => $dump . $error . print_r($error->getTrace(), true)];
    }
}

while (($line = fgets(STDIN)) !== false) {
    ['call' => $call, 'options' => $options, 'conversions' => $conversions] = json_decode($line, true);
    echo json_encode(run($call, $options, $conversions), JSON_THROW_ON_ERROR), "\n";
}
