export const fake = 'for tests only';
