export const app = 'composition root';
