<?php
/**
 * Sends conversions to a Cleancast relay. PHP 8.1 or newer, no dependencies, no curl extension, one file.
 *
 *     require 'cleancast.php';
 *     $cleancast = new Cleancast\Cleancast('https://shop.example.com', getenv('CLEANCAST_KEY'));
 *     $cleancast->send(['email' => 'ada@example.com', 'event' => 'purchase', 'value' => 49.9, 'orderId' => 'A-1001']);
 *
 * Temporary failures are repeated within a time budget. Repeating is safe because the relay answers an event that it has
 * already with `deduped`; every repeat sends the bytes of the first attempt, so the order id is the same.
 *
 * Copyright (c) 2026 The Cleancast authors
 * SPDX-License-Identifier: MIT
 */

declare(strict_types=1);

namespace Cleancast;

/** A conversion was not accepted, after all attempts. */
final class CleancastException extends \RuntimeException
{
    /** The HTTP status; 0 if no answer arrived. */
    public readonly int $status;
    /** True if the same conversion may be accepted later. */
    public readonly bool $retryable;
    /** The wait that the relay asked for, in seconds. */
    public readonly ?float $retryAfter;

    /**
     * @param array{status: int, error: string, retryable: bool, retryAfter?: float} $refusal
     * @param ?\Throwable $cause what PHP reported where no answer arrived; getPrevious() returns it
     */
    public function __construct(array $refusal, ?\Throwable $cause = null)
    {
        $this->status = $refusal['status'];
        $this->retryable = $refusal['retryable'];
        $this->retryAfter = $refusal['retryAfter'] ?? null;
        parent::__construct($this->status === 0 ? $refusal['error'] : "{$this->status} {$refusal['error']}", 0, $cause);
    }
}

final class Cleancast
{
    // The relay's limits of a batch.
    private const MAX_BATCH_EVENTS = 500;
    private const MAX_BATCH_BYTES = 2 * 1024 * 1024;
    private const MAX_DELAY = 30.0;
    /** An answer to the largest batch is far smaller. */
    private const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
    /** An error message repeats no more of an answer, which may be a page of a proxy. */
    private const MAX_ERROR_LENGTH = 300;

    private string $inbound;
    /** A closure instead of a string: var_dump, print_r and var_export do not show the key. */
    private \Closure $key;

    /**
     * @param string $url the address of the relay, with or without /__cc/inbound
     * @param string $key an inbound key of the site, cc_…
     * @param float $timeout the longest wait for one answer, in seconds; the relay answers within 10
     * @param float $budget the time for all attempts of send, in seconds: a visitor may be waiting for it
     * @param float $batchBudget the time for all attempts of sendBatch, in seconds
     * @param float $firstDelay the first wait between attempts, in seconds; it doubles each time. Retry-After goes first
     */
    public function __construct(
        string $url,
        #[\SensitiveParameter] string $key,
        private float $timeout = 15.0,
        private float $budget = 10.0,
        private float $firstDelay = 0.5,
        private float $batchBudget = 60.0,
    ) {
        $this->inbound = self::inboundAddress($url);
        // The message does not repeat the value, which may be a secret in the wrong place.
        if (!preg_match('/^cc_\w+$/D', $key)) {
            throw new \InvalidArgumentException('key must be an inbound key of the site, which begins with cc_');
        }
        $this->key = self::hide($key);
        $times = ['timeout' => $timeout, 'budget' => $budget, 'batchBudget' => $batchBudget, 'firstDelay' => $firstDelay];
        foreach ($times as $name => $value) {
            if (!($value > 0)) {
                throw new \InvalidArgumentException("$name must be a positive number");
            }
        }
    }

    public function __debugInfo(): array
    {
        return ['inbound' => $this->inbound];
    }

    /**
     * Sends one conversion and returns the relay's answer.
     *
     * @throws CleancastException if it was not accepted within the time budget
     */
    public function send(#[\SensitiveParameter] array $conversion): array
    {
        $deadline = self::now() + $this->budget;
        $cause = null;
        [$outcome] = $this->deliver([self::serialise($conversion)], $deadline, false, $cause);
        if ($outcome['ok']) {
            return $outcome;
        }
        throw new CleancastException($outcome, $outcome['status'] === 0 ? $cause : null);
    }

    /**
     * Sends any number of conversions and returns the outcome of each, in order. A refused one is
     * ['ok' => false, 'status' => …, 'error' => …, 'retryable' => …] and throws nothing; send the ones that are `retryable`
     * again later.
     *
     * @param list<array> $conversions
     * @return list<array>
     */
    public function sendBatch(#[\SensitiveParameter] array $conversions): array
    {
        $deadline = self::now() + $this->batchBudget;
        $outcomes = [];
        $cause = null;
        foreach (self::splitIntoBatches(array_map(self::serialise(...), array_values($conversions))) as $batch) {
            array_push($outcomes, ...$this->deliver($batch, $deadline, true, $cause));
        }
        return $outcomes;
    }

    /**
     * @param list<string> $bodies
     * @param ?\Throwable $cause is set to what PHP reports where no answer arrives
     * @return list<array>
     */
    private function deliver(#[\SensitiveParameter] array $bodies, float $deadline, bool $isBatch, ?\Throwable &$cause): array
    {
        $outcomes = array_fill(0, count($bodies), self::refusal(0, 'not sent: the time budget was used', null));
        $open = array_keys($bodies);
        for ($attempt = 0; ; $attempt++) {
            $timeout = min($this->timeout, $deadline - self::now());
            // Of a list with several batches, the later ones may find the budget used.
            if ($timeout <= 0) {
                return $outcomes;
            }
            $sent = array_map(fn (int $index) => $bodies[$index], $open);
            $body = $isBatch ? '{"events":[' . implode(',', $sent) . ']}' : $sent[0];
            [$status, $text, $retryAfter, $failure] = $this->exchange($body, $timeout, $isBatch);
            // The budget cut this attempt short: the one before says more.
            if ($status === 0 && $attempt > 0 && $timeout < $this->timeout) {
                return $outcomes;
            }
            $cause = $failure ?? $cause;
            if ($status === 413 && count($sent) > 1) {
                // A proxy may allow smaller bodies than the relay does.
                $found = [];
                foreach (array_chunk($sent, intdiv(count($sent) + 1, 2)) as $half) {
                    array_push($found, ...$this->deliver($half, $deadline, $isBatch, $cause));
                }
            } elseif ($isBatch) {
                $found = self::readBatch($status, $text, $retryAfter, count($sent));
            } else {
                $found = [self::readSingle($status, $text, $retryAfter)];
            }
            foreach ($open as $i => $index) {
                $outcomes[$index] = $found[$i];
            }
            $open = array_values(array_filter(
                $open,
                fn (int $index) => !$outcomes[$index]['ok'] && $outcomes[$index]['retryable'],
            ));
            if ($status === 413 || !$open) {
                return $outcomes;
            }
            // The back-off is the least wait, so that a Retry-After of 0 makes no busy loop. The random half keeps many
            // senders from returning at the same moment.
            $backOff = min($this->firstDelay * 2 ** $attempt, self::MAX_DELAY) * (0.5 + mt_rand() / mt_getrandmax() / 2);
            $delay = max($retryAfter ?? 0.0, $backOff);
            if (self::now() + $delay >= $deadline) {
                return $outcomes;
            }
            usleep((int) ceil($delay * 1_000_000));
        }
    }

    /**
     * @return array{int, string, ?float, ?\Throwable} status, text without the key, Retry-After in seconds, and what PHP
     *     reported if no answer arrived (status 0)
     */
    private function exchange(#[\SensitiveParameter] string $body, float $timeout, bool $isBatch): array
    {
        $key = ($this->key)();
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => ["X-CC-Api-Key: $key", 'Content-Type: application/json', 'Connection: close'],
            'content' => $body,
            'timeout' => $timeout,
            'ignore_errors' => true,
            'protocol_version' => 1.1,
            'follow_location' => 0, // a redirect would send the key to another address
        ]]);
        $ends = self::now() + $timeout;
        // PHP reports a failure as several warnings, of which the first say more.
        $warnings = '';
        set_error_handler(function (int $_, string $text) use (&$warnings): bool {
            $warnings .= trim($text) . "\n";
            return true;
        });
        try {
            $stream = fopen($this->inbound . ($isBatch ? '/batch' : ''), 'r', false, $context);
        } finally {
            restore_error_handler();
        }
        if ($stream === false) {
            return self::noAnswer(self::describe($warnings, self::now() >= $ends, $timeout), str_replace($key, '[key]', $warnings));
        }
        try {
            $headers = stream_get_meta_data($stream)['wrapper_data'] ?? [];
            $text = self::readAll($stream, $ends);
        } finally {
            fclose($stream);
        }
        $status = preg_match('/^HTTP\/\S+ (\d{3})/', $headers[0] ?? '', $line) ? (int) $line[1] : 0;
        $length = self::header($headers, 'Content-Length');
        if ($text === null || ($length !== null && strlen($text) < (int) $length)) {
            $words = self::now() >= $ends ? self::within($timeout) : 'the connection was closed';
            return self::noAnswer($words, 'the answer ended early');
        }
        // A proxy or an error page may repeat the request's headers.
        return [$status, str_replace($key, '[key]', $text), self::retryAfter(self::header($headers, 'Retry-After')), null];
    }

    /** @return array{int, string, ?float, ?\Throwable} */
    private static function noAnswer(string $words, string $reported): array
    {
        return [0, "no answer: $words", null, new \RuntimeException(trim($reported))];
    }

    /** Says in plain words why no answer arrived. */
    private static function describe(string $warnings, bool $isLate, float $timeout): string
    {
        return match (true) {
            (bool) preg_match('/getaddrinfo|php_network_getaddresses/', $warnings) => 'the host name was not found',
            str_contains($warnings, 'Unable to find the wrapper') => 'PHP has no openssl extension for https',
            (bool) preg_match('/SSL|crypto|certificate|Peer /i', $warnings) => 'TLS failed',
            stripos($warnings, 'refused') !== false => 'connection refused',
            $isLate || stripos($warnings, 'timed out') !== false => self::within($timeout),
            str_contains($warnings, 'HTTP request failed') => 'the connection was closed',
            str_contains($warnings, 'allow_url_fopen') => 'PHP does not allow it: set allow_url_fopen in php.ini',
            default => 'the request failed',
        };
    }

    private static function within(float $timeout): string
    {
        return sprintf('nothing within %g seconds', $timeout);
    }

    /**
     * Reads the whole body, or returns null. The time limit of a stream starts again with every byte, so the end is checked
     * here too.
     *
     * @param resource $stream
     */
    private static function readAll($stream, float $ends): ?string
    {
        $text = '';
        while (!feof($stream)) {
            // Of an answer in chunks, fread waits until it has all bytes that it was asked for: so it asks for one, and then
            // for those that arrived with it.
            $part = @fread($stream, 1);
            $state = stream_get_meta_data($stream);
            if ($part === false || $state['timed_out']) {
                return null;
            }
            $text .= $part . ($state['unread_bytes'] > 0 ? fread($stream, $state['unread_bytes']) : '');
            if (self::now() > $ends || strlen($text) > self::MAX_ANSWER_BYTES) {
                return null;
            }
        }
        return $text;
    }

    /** @param list<string> $headers */
    private static function header(array $headers, string $name): ?string
    {
        foreach ($headers as $header) {
            if (stripos($header, "$name:") === 0) {
                return trim(substr($header, strlen($name) + 1));
            }
        }
        return null;
    }

    /** Reads Retry-After, in seconds or as a date. */
    private static function retryAfter(?string $text): ?float
    {
        if ($text === null || $text === '') {
            return null;
        }
        if (ctype_digit($text)) {
            return (float) $text;
        }
        // strtotime would also read words such as "tomorrow".
        $at = preg_match('/\d{2}:\d{2}:\d{2}/', $text) ? strtotime($text) : false;
        return $at === false ? null : (float) max(0, $at - time());
    }

    private static function readSingle(int $status, string $text, ?float $retryAfter): array
    {
        $body = $status === 200 ? json_decode($text, true) : null;
        // Only the relay answers ok: true; a proxy in between may also answer 200.
        return self::isAccepted($body) ? $body : self::refusalOf($status, $text, $retryAfter);
    }

    /** @return list<array> */
    private static function readBatch(int $status, string $text, ?float $retryAfter, int $count): array
    {
        $body = $status === 200 ? json_decode($text) : null;
        // An object is no list, though json_decode makes an array of both if asked to.
        $isList = is_object($body) && ($body->ok ?? null) === true && is_array($body->results ?? null);
        if (!$isList || count($body->results) !== $count) {
            return array_fill(0, $count, self::refusalOf($status, $text, $retryAfter));
        }
        return array_map(
            fn ($one) => self::isAccepted($one) ? $one : self::refusalIn($one, $retryAfter),
            json_decode($text, true)['results'],
        );
    }

    /** Reads the refusal of one event of a batch. */
    private static function refusalIn(mixed $result, ?float $retryAfter): array
    {
        $status = is_array($result) ? $result['status'] ?? null : null;
        $error = is_array($result) ? $result['error'] ?? null : null;
        return self::refusal(
            is_int($status) ? $status : 0,
            is_string($error) ? $error : 'no reason given',
            $retryAfter,
        );
    }

    /** Reads the refusal of a whole request: JSON from the relay, any text from a proxy. */
    private static function refusalOf(int $status, string $text, ?float $retryAfter): array
    {
        $body = json_decode($text, true);
        $error = is_array($body) && is_string($body['error'] ?? null) ? $body['error'] : trim($text);
        return self::refusal($status, $status === 200 ? "the answer is not the relay's: $error" : $error, $retryAfter);
    }

    private static function refusal(int $status, string $error, ?float $retryAfter): array
    {
        // Every other status says that the request itself is wrong, so a repeat would fail in the same way.
        $retryable = in_array($status, [0, 200, 429], true) || $status >= 500;
        // A cut in the middle of a character would not be UTF-8.
        preg_match('/^.{0,' . self::MAX_ERROR_LENGTH . '}/su', $error, $start);
        return [
            'ok' => false,
            'status' => $status,
            'error' => ($start[0] ?? '') !== '' ? $start[0] : "status $status",
            'retryable' => $retryable,
        ] + ($retryable && $retryAfter !== null ? ['retryAfter' => $retryAfter] : []);
    }

    private static function isAccepted(mixed $body): bool
    {
        return is_array($body) && ($body['ok'] ?? null) === true;
    }

    private static function serialise(#[\SensitiveParameter] array $conversion): string
    {
        // NaN and Infinity are not JSON: they throw, as does text that is not UTF-8. An empty array would become a list.
        return json_encode((object) $conversion, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    /**
     * @param list<string> $bodies
     * @return list<list<string>>
     */
    private static function splitIntoBatches(array $bodies): array
    {
        $batches = [];
        $size = 0;
        foreach ($bodies as $body) {
            // With the comma that follows it; the rest of a body, {"events":[]}, has 13 bytes.
            $added = strlen($body) + 1;
            $last = count($batches) - 1;
            $fits = $last >= 0 && count($batches[$last]) < self::MAX_BATCH_EVENTS;
            if ($fits && $size + $added + 13 <= self::MAX_BATCH_BYTES) {
                $batches[$last][] = $body;
                $size += $added;
            } else {
                $batches[] = [$body];
                $size = $added;
            }
        }
        return $batches;
    }

    private static function inboundAddress(string $url): string
    {
        $parts = parse_url($url);
        $scheme = $parts['scheme'] ?? '';
        $host = $parts['host'] ?? '';
        if (!in_array($scheme, ['http', 'https'], true) || $host === '') {
            throw new \InvalidArgumentException("url must be the relay's address, such as https://shop.example.com");
        }
        if ($scheme === 'http' && !in_array($host, ['localhost', '127.0.0.1', '[::1]'], true)) {
            throw new \InvalidArgumentException('url must begin with https://: the key would be readable on the way');
        }
        if (isset($parts['user']) || isset($parts['pass'])) {
            throw new \InvalidArgumentException('url must not contain a user name or password');
        }
        $port = isset($parts['port']) ? ":{$parts['port']}" : '';
        $path = preg_replace('~/__cc/inbound(/batch)?$~D', '', rtrim($parts['path'] ?? '', '/'));
        return "$scheme://$host$port$path/__cc/inbound";
    }

    private static function hide(#[\SensitiveParameter] string $key): \Closure
    {
        return static fn (): string => $key;
    }

    /** Returns seconds of a clock that no change of the system's time affects. */
    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
