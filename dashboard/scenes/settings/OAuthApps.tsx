export default function OAuthApps() {
  return null;
}
