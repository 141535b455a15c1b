<?php
// Settings > Cleancast: the address, the key, the tag, and a test of the connection.

defined('ABSPATH') || exit;

add_action('admin_menu', 'cleancast_add_page');
add_action('admin_init', 'cleancast_register_setting');
add_action('admin_post_cleancast_test', 'cleancast_handle_test');

function cleancast_add_page(): void
{
    add_options_page('Cleancast', 'Cleancast', 'manage_options', 'cleancast', 'cleancast_render_page');
}

function cleancast_register_setting(): void
{
    register_setting('cleancast', 'cleancast', [
        'type' => 'array',
        'sanitize_callback' => 'cleancast_sanitize',
        // The key is needed in the background only, not on every page.
        'show_in_rest' => false,
    ]);
}

/** Keeps the stored value of a field that is wrong, and says why. */
function cleancast_sanitize($given): array
{
    $given = is_array($given) ? $given : [];
    $stored = get_option('cleancast', []);
    $stored = is_array($stored) ? $stored : [];
    $url = preg_replace('~(/__cc/inbound)?/*$~D', '', trim((string) ($given['url'] ?? '')));
    $wrong_url = $url === '' ? '' : cleancast_address_error($url);
    if ($wrong_url !== '') {
        add_settings_error('cleancast', 'url', $wrong_url);
        $url = (string) ($stored['url'] ?? '');
    }
    // The form never contains the stored key: an empty field means that it stays.
    $key = trim((string) ($given['key'] ?? ''));
    $wrong_key = $key === '' ? '' : cleancast_key_error($key);
    if ($wrong_key !== '') {
        add_settings_error('cleancast', 'key', $wrong_key);
    }
    return [
        'url' => $url === '' ? '' : esc_url_raw($url, ['http', 'https']),
        'key' => $key === '' || $wrong_key !== '' ? (string) ($stored['key'] ?? '') : $key,
        'tag' => !empty($given['tag']),
    ];
}

function cleancast_handle_test(): void
{
    if (!current_user_can('manage_options')) {
        wp_die(esc_html__('You are not allowed to do this.', 'cleancast'), '', ['response' => 403]);
    }
    check_admin_referer('cleancast_test');
    $result = cleancast_test_connection();
    add_settings_error('cleancast', 'test', $result['text'], $result['ok'] ? 'success' : 'error');
    set_transient('settings_errors', get_settings_errors(), 30);
    wp_safe_redirect(admin_url('options-general.php?page=cleancast&settings-updated=1'));
    exit;
}

function cleancast_render_page(): void
{
    $settings = cleancast_settings();
    $hint = $settings['key'] === '' ? 'cc_…' : __('configured; enter another one to replace it', 'cleancast');
    ?>
<div class="wrap">
  <h1>Cleancast</h1>
  <form method="post" action="options.php">
    <?php settings_fields('cleancast'); ?>
    <table class="form-table" role="presentation">
      <tr>
        <th scope="row"><label for="cleancast-url"><?php esc_html_e('Address of the relay', 'cleancast'); ?></label></th>
        <td><input id="cleancast-url" class="regular-text" type="url" name="cleancast[url]"
          placeholder="https://shop.example.com" value="<?php echo esc_attr($settings['url']); ?>"
          <?php disabled(defined('CLEANCAST_URL')); ?>></td>
      </tr>
      <tr>
        <th scope="row"><label for="cleancast-key"><?php esc_html_e('Inbound key', 'cleancast'); ?></label></th>
        <td><input id="cleancast-key" class="regular-text" type="password" name="cleancast[key]" autocomplete="off"
          placeholder="<?php echo esc_attr($hint); ?>" <?php disabled(defined('CLEANCAST_KEY')); ?>></td>
      </tr>
      <tr>
        <th scope="row"><?php esc_html_e('Tag', 'cleancast'); ?></th>
        <td><label><input type="checkbox" name="cleancast[tag]" value="1" <?php checked($settings['tag']); ?>>
          <?php esc_html_e('Add the tag to every page', 'cleancast'); ?></label></td>
      </tr>
    </table>
    <?php submit_button(); ?>
  </form>
  <form method="post" action="<?php echo esc_url(admin_url('admin-post.php')); ?>">
    <input type="hidden" name="action" value="cleancast_test">
    <?php wp_nonce_field('cleancast_test'); ?>
    <?php submit_button(__('Test the connection', 'cleancast'), 'secondary'); ?>
  </form>
</div>
    <?php
}
