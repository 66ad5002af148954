import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Range = readonly [Address, number];

/** Maximum number of trusted proxies in a chain. */
const MAX_HOPS = 32;
/** Maximum characters of an address with brackets, zone and port. */
const ADDRESS_LENGTH = 128;
/** Capacity of the cache of parsed addresses: every request has one. */
const MAX_CACHED = 10_000;

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export const withoutIpv4Mapping = (address: Address): Address =>
  address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()
    ? (address as ipaddr.IPv6).toIPv4Address()
    : address;

/**
 * An IP address; null for other text. IPv4 only in dotted decimal, because programs read its other spellings
 * differently.
 */
function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? withoutIpv4Mapping(ipaddr.IPv6.parse(text)) : null;
}

/** An entry of `X-Forwarded-For`: an address, also with a port, and with brackets around IPv6. */
function parseEntry(entry: string): Address | null {
  const text = entry.trim();
  if (text.length > ADDRESS_LENGTH) return null;
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(':') ? parseAddress(bracketed) : null;
  const [, beforePort] = /^([\d.]+):\d{1,5}$/.exec(text) ?? [];
  return parseAddress(beforePort ?? text);
}

/** An IP address or CIDR block; null when it is neither. */
export function parseRange(text: string): Range | null {
  const [base = '', bits, ...more] = text.split('/');
  const address = parseAddress(base);
  if (address === null || more.length > 0) return null;
  const maxLength = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, maxLength];
  if (!/^\d{1,3}$/.test(bits)) return null;
  // The prefix length of an IPv4-mapped IPv6 block also counts the 96 bits before the IPv4 address.
  const isMapped = address.kind() === 'ipv4' && base.includes(':');
  const length = Number(bits) - (isMapped ? 96 : 0);
  return length >= 0 && length <= maxLength ? [address, length] : null;
}

/** Why an address or CIDR block of a trusted proxy is invalid; null when it is valid. */
export function proxyFault(text: string): string | null {
  return parseRange(text) === null
    ? `"${text}" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8`
    : null;
}

/** Whether a block contains all IPv4 or all IPv6 addresses: every client with one of them could forge its address. */
export const trustsEveryone = (text: string): boolean => parseRange(text)?.[1] === 0;

/** IPv4 by address; IPv6 by its first 64 bits, because one host has all addresses of a /64. */
function networkOf(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const parts = (address as ipaddr.IPv6).parts.slice(0, 4);
  return `${new ipaddr.IPv6([...parts, 0, 0, 0, 0]).toString()}/64`;
}

interface ParsedAddress {
  readonly address: string;
  readonly network: string;
  readonly trusted: boolean;
}

/** Returns a cached parser of addresses, with null for other text. */
function createLookup(trustedProxies: readonly string[]): (text: string) => ParsedAddress | null {
  const ranges = trustedProxies.map(parseRange).filter((range) => range !== null);
  const known = new Map<string, ParsedAddress>();
  return (text) => {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    const address = parseEntry(text);
    if (address === null) return null;
    const trusted = ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
    const parsed = { address: address.toString(), network: networkOf(address), trusted };
    if (known.size >= MAX_CACHED) known.clear();
    known.set(text, parsed);
    return parsed;
  };
}

/**
 * The network of a connection's peer; `unknown` without an address. Null for a trusted proxy, which connects for many
 * clients.
 */
export function createPeerNetworks(trustedProxies: readonly string[]): (peer: string | undefined) => string | null {
  const lookUp = createLookup(trustedProxies);
  return (peer) => {
    const known = peer === undefined ? null : lookUp(peer);
    if (known === null) return 'unknown';
    return known.trusted ? null : known.network;
  };
}

/**
 * Id of a client, from the peer of its connection and `X-Forwarded-For`; `unknown` without a valid address of the peer.
 */
type ClientOf = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Identifies the client of a request by the peer of its connection. Behind a trusted proxy `X-Forwarded-For` is read
 * from the right, and an entry counts only when a trusted proxy wrote it. When an entry is not an address, the proxy
 * that wrote it is the client.
 */
function createClients(trustedProxies: readonly string[], part: 'network' | 'address'): ClientOf {
  const lookUp = createLookup(trustedProxies);

  function clientBehind(proxy: ParsedAddress, chain: string): ParsedAddress {
    let client = proxy;
    let end = chain.length;
    for (let hop = 0; hop < MAX_HOPS && end >= 0 && client.trusted; hop += 1) {
      // `lastIndexOf` takes a negative position as 0.
      const comma = end === 0 ? -1 : chain.lastIndexOf(',', end - 1);
      const next = lookUp(chain.slice(comma + 1, end));
      if (next === null) return client;
      client = next;
      end = comma;
    }
    return client;
  }

  return (peerText, forwardedFor) => {
    const peer = peerText === undefined ? null : lookUp(peerText);
    if (peer === null) return 'unknown';
    return (peer.trusted && forwardedFor !== undefined ? clientBehind(peer, forwardedFor) : peer)[part];
  };
}

/** The network of the client of a request: an IPv4 address, or the first 64 bits of an IPv6 one. */
export const createClientNetworks = (trustedProxies: readonly string[]): ClientOf =>
  createClients(trustedProxies, 'network');

/** The address of the client of a request. */
export const createClientAddresses = (trustedProxies: readonly string[]): ClientOf =>
  createClients(trustedProxies, 'address');

/** Whether an address is one of a list of addresses and blocks. */
export function isAmong(list: readonly string[], address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return list.some((text) => {
    const range = parseRange(text);
    return range !== null && range[0].kind() === parsed.kind() && parsed.match(range[0], range[1]);
  });
}
