import { join } from 'node:path';
import { liteFolder } from '../files/config-file.ts';
import { makePrivateFolder, readText, removeFile, replaceText } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { numberOrNull, textOrNull } from '../values.ts';

const folderOf = (host: Host): string => join(liteFolder(host), 'autorouter');

/** Configuration of the local proxy. */
export const configFileOf = (host: Host): string => join(folderOf(host), 'config.yaml');
/** Output of the local proxy. */
export const logFileOf = (host: Host): string => join(folderOf(host), 'proxy.log');
/** Data folder of the local proxy. */
export const dataFolderOf = (host: Host): string => join(folderOf(host), 'data');
const pidFileOf = (host: Host): string => join(folderOf(host), 'proxy.pid.json');

export function makeAutorouteFolder(host: Host): void {
  makePrivateFolder(liteFolder(host));
  makePrivateFolder(folderOf(host));
}

/** The started local proxy. */
export interface LocalProxy {
  readonly pid: number;
  readonly port: number;
  readonly configPath: string;
  readonly logPath: string;
}

/** The proxy that was started last and not stopped; null for none, and for a damaged file. */
export function readLocalProxy(host: Host): LocalProxy | null {
  const text = readText(pidFileOf(host));
  if (text === null) return null;
  try {
    const members = jsonObjectOf(JSON.parse(text));
    const [pid, port] = [numberOrNull(members['pid']), numberOrNull(members['port'])];
    const [configPath, logPath] = [textOrNull(members['config_path']), textOrNull(members['log_path'])];
    // Numbers below 2 name process groups and the first process of the system.
    if (pid === null || !Number.isSafeInteger(pid) || pid < 2 || port === null || configPath === null) return null;
    return { pid, port, configPath, logPath: logPath ?? logFileOf(host) };
  } catch {
    return null;
  }
}

export function writeLocalProxy(host: Host, { pid, port, configPath, logPath }: LocalProxy): void {
  const record = { pid, port, config_path: configPath, log_path: logPath };
  replaceText(pidFileOf(host), `${JSON.stringify(record, null, 2)}\n`);
}

/** Removes the record of the proxy. Returns whether it existed. */
export const removeLocalProxy = (host: Host): boolean => removeFile(pidFileOf(host));
