/** A base address without its secret parts: user, password and query. */
export const publicAddress = (base: string): string =>
  /[@?#]/.test(base) ? base.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, '') : base;
