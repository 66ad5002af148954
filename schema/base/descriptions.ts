/** Description of a change of configuration that other processes read from the database. */
export const TAKES_EFFECT =
  'Takes effect immediately in this process, within seconds in others. For proxy administrators.';
