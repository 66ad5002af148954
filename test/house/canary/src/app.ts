export const roof = 'seen by none';
