import { type ConfigDocument, NO_DOCUMENT } from './config-document.ts';
import { ConfigError, type ConfigFault } from './config-fault.ts';
import { isModelFault } from './model-list.ts';
import { readConfigFile } from './config-file.ts';

/**
 * Reads the configuration file, and reports its faults except those of single models. Empty without a readable file.
 */
export function openDocument(
  path: string | null,
  env: NodeJS.ProcessEnv,
  fault: (fault: ConfigFault) => void,
): ConfigDocument {
  if (path === null || path === '') return NO_DOCUMENT;
  try {
    const document = readConfigFile(path, env);
    for (const one of document.faults) if (!isModelFault(one)) fault(one);
    return document;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const one of error.faults) fault(one);
    return NO_DOCUMENT;
  }
}
