/** A base address without the parts that may be secret: user, password, query and fragment. */
export const publicAddress = (base: string): string =>
  /[@?#]/.test(base) ? base.replace(/\/\/[^/?#]*@/, '//').replace(/[?#].*$/, '') : base;
