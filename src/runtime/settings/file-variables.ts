import type { JsonObject } from '../../domain/json-object.ts';
import type { ConfigFault } from './config-fault.ts';
import { type Path, resolveReferences } from './config-references.ts';

const SECTION = 'environment_variables';

/**
 * Variables of the machine and of the runtime, which a file cannot set. The names are those of the reference, and
 * Node's. The reference reserves NO_PROXY, but not HTTP_PROXY.
 */
const RESERVED =
  /^(PATH|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_.*|PYTHON(PATH|STARTUP|HOME)|NODE_(OPTIONS|PATH)|HOME|USER|SHELL|LOGNAME|NO_PROXY)$/i;
/** Name of a variable. */
const NAME_OF_VARIABLE = /^[^=\0]+$/;

/** Variables that a configuration file sets in the environment of the process. */
export interface FileVariables {
  /** Texts by name. They may be secrets. */
  readonly values: Readonly<Record<string, string>>;
  /** Entries that cannot be used: the start fails. */
  readonly faults: readonly ConfigFault[];
  /** Entries that are left out. */
  readonly warnings: readonly ConfigFault[];
}

/**
 * Reads the section `environment_variables`. Its references are resolved from `env`. Numbers, true and false become
 * texts; null sets nothing.
 */
export function readFileVariables(
  content: JsonObject,
  env: NodeJS.ProcessEnv,
  placeOf: (path: Path) => Pick<ConfigFault, 'source' | 'line'>,
): FileVariables {
  const section = content[SECTION] ?? {};
  const at = (path: Path, message: string): ConfigFault => ({ ...placeOf(path), key: path.join('.'), message });
  if (typeof section !== 'object' || Array.isArray(section))
    return { values: {}, faults: [at([SECTION], 'is not a map of variables')], warnings: [] };
  const values: [string, string][] = [];
  const faults: ConfigFault[] = [];
  const warnings: ConfigFault[] = [];
  for (const [name, value] of Object.entries(section)) {
    const path = [SECTION, name];
    if (value === null) continue;
    if (typeof value === 'object') faults.push(at(path, 'is not a text, a number, true or false'));
    else if (!NAME_OF_VARIABLE.test(name) || String(value).includes('\0'))
      faults.push(at(path, 'is not the name and the text of a variable'));
    else if (RESERVED.test(name)) warnings.push(at(path, 'is not set: this variable belongs to the machine'));
    else {
      const missing: string[] = [];
      const resolved = resolveReferences(value, path, (_path, source) => {
        const found = env[source] ?? null;
        if (found === null) missing.push(source);
        return found;
      });
      if (missing.length > 0)
        warnings.push(at(path, `is not set: the environment variable ${missing[0]} it refers to is not set`));
      else values.push([name, String(resolved)]);
    }
  }
  return { values: Object.fromEntries(values), faults, warnings };
}
