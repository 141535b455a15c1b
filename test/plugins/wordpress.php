<?php
// Provides the parts of WordPress, WooCommerce and Action Scheduler that the plugin calls, with real HTTP. It follows their
// documented signatures and results. Reads {options, orders, refunds, calls} from standard input; prints what happened.

declare(strict_types=1);

define('ABSPATH', __DIR__);

$input = json_decode(stream_get_contents(STDIN), true);
$options = $input['options'] ?? [];
$hooks = [];
$actions = [];
$happened = [];

function add_action(string $hook, callable $call, int $priority = 10, int $arguments = 1): bool
{
    global $hooks;
    $hooks[$hook][] = fn (...$given) => $call(...array_slice($given, 0, $arguments));
    return true;
}
function add_filter(string $hook, callable $call, int $priority = 10, int $arguments = 1): bool
{
    return add_action($hook, $call, $priority, $arguments);
}
function do_action(string $hook, ...$arguments): void
{
    global $hooks;
    foreach ($hooks[$hook] ?? [] as $call) {
        $call(...$arguments);
    }
}
function __return_true(): bool { return true; }
function is_admin(): bool { return true; }
function plugin_basename(string $file): string { return 'cleancast/' . basename($file); }
function plugins_url(string $path, string $file): string { return "https://blog.example.com/wp-content/plugins/cleancast/$path"; }
function untrailingslashit(string $text): string { return rtrim($text, '/\\'); }
function wp_parse_url(string $url) { return parse_url($url); }
function wp_json_encode($data) { return json_encode($data); }
function wp_strip_all_tags(string $text): string { return trim(strip_tags($text)); }
function esc_url_raw(string $url, ?array $protocols = null): string { return $url; }
function __(string $text, string $domain = 'default'): string { return $text; }

function get_option(string $name, $default = false)
{
    global $options;
    return $options[$name] ?? $default;
}
function delete_option(string $name): bool
{
    global $options;
    unset($options[$name]);
    return true;
}
function add_settings_error(string $setting, string $code, string $message, string $type = 'error'): void
{
    global $happened;
    $happened[] = ['message' => $message, 'type' => $type];
}

function wp_script_is(string $handle, string $status = 'enqueued'): bool
{
    global $input;
    return in_array($handle, $input['scripts'] ?? [], true);
}
function wp_enqueue_script(string $handle, string $src = '', array $after = [], $version = false, $args = []): void
{
    global $happened;
    $happened[] = ['script' => $handle, 'src' => $src, 'after' => $after];
}
function wp_add_inline_script(string $handle, string $data, string $position = 'after'): bool
{
    global $happened;
    $happened[] = ['inline' => $data, 'position' => $position];
    return true;
}

final class WP_Error
{
    public function __construct(private string $message)
    {
    }
    public function get_error_message(): string
    {
        return $this->message;
    }
}
function is_wp_error($thing): bool { return $thing instanceof WP_Error; }
function wp_remote_post(string $url, array $arguments = [])
{
    $headers = array_map(fn ($name, $value) => "$name: $value", array_keys($arguments['headers']), $arguments['headers']);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => $headers,
        'content' => $arguments['body'],
        'timeout' => $arguments['timeout'] ?? 5,
        'ignore_errors' => true,
        'follow_location' => ($arguments['redirection'] ?? 5) > 0 ? 1 : 0,
    ]]);
    $http_response_header = [];
    $body = @file_get_contents($url, false, $context);
    if ($body === false) {
        return new WP_Error((string) (error_get_last()['message'] ?? ''));
    }
    $found = [];
    foreach (array_slice($http_response_header, 1) as $line) {
        [$name, $value] = explode(':', $line, 2);
        $found[strtolower($name)] = trim($value);
    }
    return ['response' => ['code' => (int) explode(' ', $http_response_header[0])[1]], 'body' => $body, 'headers' => $found];
}
function wp_remote_retrieve_response_code($answer) { return is_wp_error($answer) ? '' : $answer['response']['code']; }
function wp_remote_retrieve_body($answer): string { return is_wp_error($answer) ? '' : $answer['body']; }
function wp_remote_retrieve_header($answer, string $name) { return is_wp_error($answer) ? '' : $answer['headers'][$name] ?? ''; }

function as_has_scheduled_action(string $hook, ?array $arguments = null, string $group = ''): bool
{
    global $actions;
    return in_array([$hook, $arguments, $group], $actions, true);
}
function as_enqueue_async_action(string $hook, array $arguments = [], string $group = ''): int
{
    global $actions;
    return array_push($actions, [$hook, $arguments, $group]);
}
function as_schedule_single_action(int $at, string $hook, array $arguments = [], string $group = ''): int
{
    global $happened;
    $happened[] = ['later' => $arguments, 'seconds' => $at - time()];
    return 1;
}

/** Answers get_…() with the field of that name. */
abstract class Record
{
    public function __construct(protected array $data) {}
    public function __call(string $name, array $arguments)
    {
        $value = $this->data[substr($name, 4)] ?? '';
        return str_starts_with($name, 'get_date_') ? ($value === '' ? null : new DateTime("@$value")) : $value;
    }
    public function get_items(): array
    {
        return array_map(fn ($item) => new WC_Order_Item_Product($item), $this->data['items'] ?? []);
    }
}
final class WC_Order extends Record {}
final class WC_Order_Refund extends Record {}
final class WC_Product extends Record {}
final class WC_Order_Item_Product extends Record
{
    public function get_product() { return isset($this->data['sku']) ? new WC_Product($this->data) : false; }
}
function wc_get_order($id)
{
    global $input;
    foreach (['orders' => WC_Order::class, 'refunds' => WC_Order_Refund::class] as $list => $class) {
        foreach ($input[$list] ?? [] as $one) {
            if ($one['id'] === $id) {
                return new $class($one);
            }
        }
    }
    return false;
}

require $argv[1];

foreach ($input['calls'] as $call) {
    [$kind, $name, $arguments] = $call;
    if ($kind === 'hook') {
        do_action($name, ...$arguments);
    } else {
        $happened[] = ['returned' => $name(...$arguments)];
    }
}
while ($next = array_shift($actions)) {
    try {
        do_action($next[0], ...$next[1]);
        $happened[] = ['complete' => $next[1]];
    } catch (Throwable $error) {
        $happened[] = ['failed' => $error->getMessage()];
    }
}
echo json_encode(['happened' => $happened, 'options' => (object) $options]);
