const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const AUTHORITY = /^(https?):\/\/([^/?#\\]+)(?:[/?#]|$)/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether a text is an `https://` address, or an `http://` address of this machine, without user name and password.
 * The scheme must be in lower case, and backslashes are refused: programs read such addresses in different ways.
 */
export function isHttpsOrLoopback(text: string): boolean {
  const [, scheme, authority] = AUTHORITY.exec(text) ?? [];
  if (authority === undefined || authority.includes('@') || !VISIBLE_ASCII.test(text) || text.includes('\\'))
    return false;
  const url = URL.parse(text);
  return url !== null && url.hostname !== '' && (scheme === 'https' || LOOPBACK.test(url.hostname));
}
