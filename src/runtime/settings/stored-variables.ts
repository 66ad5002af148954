import type { ValueFault } from '../../domain/settings/value-faults.ts';
import { readProviderAccounts } from './provider-accounts.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './table.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);
/** Variables of settings. They are read at the start, before the database is open, and so cannot be stored. */
const OF_SETTINGS: ReadonlySet<string> = new Set(
  ['CONFIG_FILE_PATH', ...ROWS.flatMap(({ env = [] }) => env)].map((name) => name.toUpperCase()),
);

/** Variables of the machine, of the runtime and of this product. */
const OF_PROCESS =
  /^(PATH|HOME|USER|SHELL|LOGNAME|PWD|TZ|TMPDIR|LANG|(LC|LD|DYLD|NODE|NPM|UV|MALLOC|PYTHON|SSL|OPENSSL|LENSGATE)_?.*|(HTTP|HTTPS|ALL|NO)_PROXY)$/i;

/**
 * Name of a variable by POSIX. Other names are refused, for example with a space or with letters that look like Latin
 * ones.
 */
const NAME = /^[A-Za-z_]\w{0,255}$/;

/** Maximum characters of a stored variable. */
const MAX_CHARACTERS = 32_768;

/** Faults of a variable that would be stored. */
export function storedVariableFaults(name: string, value: unknown): readonly ValueFault[] {
  const fault = (message: string): readonly ValueFault[] => [{ path: [], message }];
  if (!NAME.test(name)) return fault('is not the name of a variable');
  if (OF_PROCESS.test(name) || OF_SETTINGS.has(name.toUpperCase()))
    return fault('belongs to the process and cannot be stored');
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return fault('is not a text, a number, true or false');
  const text = String(value);
  if (text.length > MAX_CHARACTERS || text.includes('\0'))
    return fault(`is not a text of at most ${MAX_CHARACTERS} characters without a null character`);
  const faults: ValueFault[] = [];
  // A wrong address of a provider would be a fault of the configuration.
  readProviderAccounts({ [name]: text }, ({ message }) => faults.push({ path: [], message }));
  return faults;
}
