<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Shop</title><?php wp_head(); ?></head>
<body>
<form action="/?thanks" method="post"><input type="email" name="newsletter"><button id="send">Send</button></form>
<?php wp_footer(); ?>
</body>
</html>
