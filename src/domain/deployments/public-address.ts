/**
 * A base address without the parts that may be secret: user, password, query and fragment. Of an invalid address, all
 * text between `//` and the last at sign is removed.
 */
export function publicAddress(base: string): string {
  if (!/[@?#]/.test(base)) return base;
  const credentials = URL.canParse(base) ? /\/\/[^/?#]*@/ : /\/\/.*@/s;
  return base.replace(credentials, '//').replace(/[?#].*$/s, '');
}
