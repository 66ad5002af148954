import { InvalidInput } from '../../src/domain/errors.ts';
import { ALLOWED_ADDRESSES } from '../../src/domain/settings/allowed-addresses.ts';
import type { SettingsPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Throws InvalidInput for a text that is neither an address nor a block. */
export function assertAddress({ platform }: Scope<SettingsPlatform>, address: string): void {
  if (!platform.allowedAddresses.isAddress(address))
    throw new InvalidInput(`"${address}" is neither an IP address nor a block such as 10.0.0.0/8.`);
}

/** Throws InvalidInput for a list that would refuse the caller. */
export function assertCovered({ platform, client }: Scope<SettingsPlatform>, list: readonly string[]): void {
  if (!platform.allowedAddresses.covers(list, client.address))
    throw new InvalidInput(`The list would refuse your own address ${client.address}. Allow it first.`);
}

/**
 * Throws InvalidInput for a value that is not a list of addresses and blocks, and for a list that would refuse the
 * caller.
 */
export function assertAllowedList(scope: Scope<SettingsPlatform>, value: unknown): void {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw new InvalidInput(`${ALLOWED_ADDRESSES} must be a list of addresses.`);
  for (const address of value) assertAddress(scope, address);
  assertCovered(scope, value);
}
