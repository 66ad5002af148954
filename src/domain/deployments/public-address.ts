/** A base address without what may be secret in it: user, password and query. */
export const publicAddress = (base: string): string => base.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, '');
