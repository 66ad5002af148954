import { unreadable } from './fault.ts';

/** What the headers of a part say of it. */
export interface PartHeaders {
  readonly name: string;
  readonly filename: string | null;
  readonly contentType: string | null;
}

const FORM_TYPE = /^\s*multipart\/form-data\s*(;|$)/i;
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Whether a body of this media type is a form that may hold files. */
export function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType);
}

/** The text that parts a form of this media type. Throws InvalidInput when it names none, or none that can be. */
export function boundaryOf(contentType: string): string {
  const boundary = parametersOf(afterFirstWord(contentType)).get('boundary');
  if (boundary === undefined) throw unreadable('its content type names no boundary');
  if (!BOUNDARY.test(boundary)) throw unreadable('its boundary is not one that RFC 2046 allows');
  return boundary;
}

const afterFirstWord = (value: string): string => (value.includes(';') ? value.slice(value.indexOf(';') + 1) : '');

/** Encodings of a part that leave its bytes as they are. */
const PLAIN = /^(7bit|8bit|binary)$/i;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\p{Cc}]*?)[ \t]*$/u;

/**
 * Reads the headers of a part; `text` is what stands between its delimiter and its content. Whatever two readers
 * could read in two ways is refused: what we admit must be what the upstream sees.
 */
export function headersOf(text: string): PartHeaders {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw unreadable('a part has a broken header');
    if (headers.has(name.toLowerCase())) throw unreadable(`a part has the header ${name} twice`);
    headers.set(name.toLowerCase(), value);
  }
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^form-data\s*;/i.test(disposition)) throw unreadable('a part has no Content-Disposition of form-data');
  const said = parametersOf(afterFirstWord(disposition));
  const name = said.get('name') ?? '';
  if (name === '') throw unreadable('a part has no name');
  if (said.has('name*')) throw unreadable('the name of a part is encoded');
  if (!PLAIN.test(headers.get('content-transfer-encoding') ?? 'binary'))
    throw unreadable(`the part "${name}" has a Content-Transfer-Encoding`);
  const filename = said.get('filename') ?? (said.has('filename*') ? decoded(said.get('filename*') ?? '') : null);
  return { name, filename, contentType: headers.get('content-type') ?? null };
}

const PARAMETER = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"([^"]*)"|([^\s";,]+))[ \t]*(?:;|$)/;

/** The parameters after a header's first word. An escaped quote ends a text for some readers and not for others. */
function parametersOf(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (let rest = text; rest.trim() !== '';) {
    const [all = '', name = '', quoted, bare] = PARAMETER.exec(rest) ?? [];
    const value = quoted ?? bare;
    if (value === undefined || value.endsWith('\\')) throw unreadable('a header has a broken parameter');
    if (parameters.has(name.toLowerCase())) throw unreadable(`a header has the parameter ${name} twice`);
    parameters.set(name.toLowerCase(), value);
    rest = rest.slice(all.length);
  }
  return parameters;
}

/** A file's name as RFC 5987 writes it; as it came when it is not written so. */
function decoded(value: string): string {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  if (encoded === undefined) return value;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return value;
  }
}
