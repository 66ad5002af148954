/**
 * A base address without the parts that may be secret: user, password, query and fragment. In an invalid address, all
 * text between `//` and the last `@` counts as user and password.
 */
export function publicAddress(base: string): string {
  if (!/[@?#]/.test(base)) return base;
  const credentials = URL.canParse(base) ? /\/\/[^/?#]*@/ : /\/\/.*@/s;
  return base.replace(credentials, '//').replace(/[?#].*$/s, '');
}
