import type { ConfigFault } from './config-file.ts';

/** A variable that is a whole number from 1 to `most`; what it is when it is not set. Anything else is told to `fault`. */
export function countIn(
  env: NodeJS.ProcessEnv,
  name: string,
  {
    otherwise,
    most,
    fault,
  }: { readonly otherwise: number; readonly most: number; readonly fault: (fault: ConfigFault) => void },
): number {
  const value = env[name];
  if (value === undefined || value === '') return otherwise;
  const count = /^\d+$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= most) return count;
  fault({
    source: 'environment',
    line: null,
    key: name,
    message: `"${value}" is not a whole number from 1 to ${most}`,
  });
  return otherwise;
}
