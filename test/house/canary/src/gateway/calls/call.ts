export const call = null;
