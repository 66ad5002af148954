import { Forbidden } from '../errors.ts';
import type { DeclaredConfig, StoredSections } from './ownership.ts';
import { GENERAL, settingViewOf } from './ownership.ts';

/** Name of the list in `general_settings`. */
export const ALLOWED_ADDRESSES = 'allowed_ips';

/** Checks of IP addresses and CIDR blocks. */
interface AddressMatcher {
  /** Whether a text is an IP address or a CIDR block. */
  isAddress(text: string): boolean;
  /** Whether an address is one of the list, or in one of its blocks. */
  covers(list: readonly string[], address: string): boolean;
}

/** The addresses that may call, as this process last read them. */
export interface AllowedAddresses extends AddressMatcher {
  /**
   * Throws Forbidden for a client whose address is not on the list. Without a list every address may call, and
   * `addressOf` is not called.
   */
  assertAllowed(addressOf: () => string): void;
}

/** The refusal of an address. It does not mention credentials, because none was checked. */
export const addressRefusal = (address: string): Forbidden =>
  new Forbidden(`Access forbidden: IP address ${address} not allowed.`, 'address');

/** The list in force; null when every address may call. */
export function allowedList(config: DeclaredConfig, stored: StoredSections): readonly string[] | null {
  const { effectiveValue } = settingViewOf(config, stored, GENERAL, ALLOWED_ADDRESSES);
  return Array.isArray(effectiveValue) ? effectiveValue.filter((item) => typeof item === 'string') : null;
}
