/** Description of a change of configuration that other processes read from the database. */
export const TAKES_EFFECT =
  'Takes effect immediately in this process, within seconds in others. For proxy administrators.';

/** Values of an enumeration, from their descriptions by value. The name of a value is the value in capitals. */
export const described = <Name extends string>(texts: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries<string>(texts).map(([name, description]) => [
      name.toUpperCase(),
      { value: name as Name, description },
    ]),
  ) as Record<string, { readonly value: Name; readonly description: string }>;
