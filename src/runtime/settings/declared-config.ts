import type { DeclaredConfig } from '../../domain/settings/ownership.ts';
import type { ConfigDocument } from './config-document.ts';
import { resolveReferences } from './config-references.ts';

/** The settings that the configuration file declares, with resolved references. Stored settings do not replace them. */
export function declaredConfigOf(
  document: ConfigDocument,
  file: string | null,
  env: NodeJS.ProcessEnv,
): DeclaredConfig {
  const resolved = resolveReferences(document.declared, [], (_path, name) => env[name] ?? null);
  return {
    file,
    files: document.files,
    declared: document.declared,
    resolved: resolved as DeclaredConfig['resolved'],
    placeOf: (section, name) => document.placeOf([section, name]),
  };
}
