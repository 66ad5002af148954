import ipaddr from 'ipaddr.js';
import { withoutIpv4Mapping } from './client-network.ts';

/** Ranges of addresses that are not on the public internet. */
const INTERNAL_RANGES: ReadonlySet<string> = new Set([
  'private',
  'loopback',
  'linkLocal',
  'uniqueLocal',
  'carrierGradeNat',
]);

/** Whether an address is not on the public internet. False for text that is no address. */
export function isInternalAddress(text: string | null): boolean {
  if (text === null || !ipaddr.isValid(text)) return false;
  return INTERNAL_RANGES.has(withoutIpv4Mapping(ipaddr.parse(text)).range());
}
