/** Description of a change of configuration that other processes read from the database. */
export const TAKES_EFFECT =
  'Takes effect immediately in this process, within seconds in others. For proxy administrators.';

/** Values of an enumeration with their descriptions. */
export const described = <Name extends string>(texts: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries<string>(texts).map(([name, description]) => [
      name.toUpperCase(),
      { value: name as Name, description },
    ]),
  ) as Record<string, { readonly value: Name; readonly description: string }>;
