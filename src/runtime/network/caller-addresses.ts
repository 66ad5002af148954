import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AddressRefused } from '../../domain/http.ts';
import { type Address, parseRange, withoutIpv4Mapping, type Range } from './client-network.ts';
import type { Peer } from '../http-client/address.ts';

/** Resolves a host name to all its addresses; `dns.lookup` in production. */
type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly family?: number },
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Decides which addresses chosen by callers may be connected to (docs/request-fields.md). */
export interface CallerAddresses {
  /**
   * The peer with a lookup that returns only allowed addresses, so that the check is on the address connected to.
   * Throws AddressRefused when the host is an address that is not allowed.
   */
  guarded(peer: Peer): Peer;
}

/** A host that the configuration allows with any address; a null port is every port. */
interface AllowedHost {
  readonly hostname: string;
  readonly port: number | null;
}

/** A public address that the host of an Azure virtual machine serves: metadata and credentials. */
const AZURE_HOST = '168.63.129.16';
/** NAT64: the last 32 bits are the IPv4 destination. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** The only IPv6 block whose addresses are assigned for global unicast. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublic(address: Address): boolean {
  // The library's range `unicast` has all addresses without a special use.
  if (address.kind() === 'ipv4') return address.range() === 'unicast' && address.toString() !== AZURE_HOST;
  if (address.match(NAT64)) {
    const bytes = address.toByteArray().slice(-4);
    return isPublic(new ipaddr.IPv4(bytes));
  }
  return address.range() === 'unicast' && address.match(GLOBAL_UNICAST);
}

/** The host in URL form: lower case, addresses in canonical notation; null when invalid. */
function hostnameOf(host: string): string | null {
  if (!/^(\[[0-9a-f:.]+\]|[\p{L}\p{N}_.-]+)$/iu.test(host)) return null;
  return (
    URL.parse(`http://${host}`)
      ?.hostname.replace(/^\[(.*)\]$/, '$1')
      .replace(/\.$/, '') || null
  );
}

function allowedHost(text: string): AllowedHost | null {
  const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const hostname = hostnameOf(host);
  const number = port === undefined ? null : Number(port);
  return hostname === null || (number !== null && number > 65_535) ? null : { hostname, port: number };
}

/** Why an entry of the setting cannot be used; null when it can. */
export function allowedHostFault(text: string): string | null {
  if (parseRange(text) !== null || allowedHost(text) !== null) return null;
  return `"${text}" is neither a host, a host and port, an IP address nor a block such as 10.0.0.0/8`;
}

/**
 * `allowed` are hosts, hosts with a port, addresses and blocks that callers may choose although they are not public.
 */
export function createCallerAddresses(allowed: readonly string[], resolve: Resolve = lookUp): CallerAddresses {
  const ranges: Range[] = [];
  const hosts: AllowedHost[] = [];
  for (const text of allowed) {
    const range = parseRange(text);
    const host = range === null ? allowedHost(text) : null;
    if (range !== null) ranges.push(range);
    if (host !== null) hosts.push(host);
  }

  const isAllowed = (text: string): boolean => {
    const address = withoutIpv4Mapping(ipaddr.parse(text));
    return (
      isPublic(address) || ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
    );
  };

  const lookup: LookupFunction = (hostname, options, callback) => {
    const family = typeof options.family === 'number' ? { family: options.family } : {};
    resolve(hostname, { ...family, all: true }, (error, addresses) => {
      // The same error for a name that does not resolve: otherwise callers could probe for names of an internal
      // network.
      const usable = error === null ? addresses.filter(({ address }) => isAllowed(address)) : [];
      const [first] = usable;
      if (first === undefined) callback(new AddressRefused(), '');
      else if (options.all === true) callback(null, [...usable]);
      else callback(null, first.address, first.family);
    });
  };

  return {
    guarded(peer) {
      const hostname = peer.hostname.replace(/\.$/, '').toLowerCase();
      if (hosts.some((host) => host.hostname === hostname && (host.port ?? peer.port) === peer.port)) return peer;
      // Node does not call `lookup` for addresses.
      if (isIP(hostname) === 0) return { ...peer, lookup };
      if (!isAllowed(hostname)) throw new AddressRefused();
      return peer;
    },
  };
}
