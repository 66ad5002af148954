import { encodeGlobalID } from '@pothos/plugin-relay';

/** The type and the local id of a global id. */
export interface NodeAddress {
  readonly typename: string;
  readonly id: string;
}

/** Maximum length of a global id, in characters. Spans and catalog entries have the longest ids. */
const MAX_LENGTH = 2_048;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DECODED = /^([A-Za-z]\w*):(.+)$/s;

/** Decodes a global id; null for other text. */
export function readGlobalId(text: string): NodeAddress | null {
  if (text.length > MAX_LENGTH || !BASE64.test(text)) return null;
  const [, typename, id] = DECODED.exec(Buffer.from(text, 'base64').toString()) ?? [];
  // An object has one global id: text that differs from the encoding of its own address is invalid.
  if (typename === undefined || id === undefined || encodeGlobalID(typename, id) !== text) return null;
  return { typename, id };
}

/**
 * Local id of an argument that is a global id of this type, or a local id. Other text, such as a global id of another
 * type, counts as a local id. Null and undefined are returned as they are.
 */
export function localId(typename: string, text: string): string;
export function localId<Absent extends null | undefined>(typename: string, text: string | Absent): string | Absent;
export function localId(typename: string, text: string | null | undefined): string | null | undefined {
  if (text === null || text === undefined) return text;
  const address = readGlobalId(text);
  return address?.typename === typename ? address.id : text;
}

/** As `localId`, for each item of a list. Undefined for an absent list. */
export function localIds(typename: string, ids: readonly string[]): readonly string[];
export function localIds(typename: string, ids: readonly string[] | null | undefined): readonly string[] | undefined;
export function localIds(typename: string, ids: readonly string[] | null | undefined): readonly string[] | undefined {
  return ids?.map((id) => localId(typename, id));
}
