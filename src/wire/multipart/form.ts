import type { JsonObject } from '../../domain/json-object.ts';
import type { Form, FormFile, FormPart } from '../../domain/inference/form.ts';
import { boundaryOf, headersOf, invalidForm } from './headers.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';

/** Maximum number of parts of one form. */
const MAX_PARTS = 512;
/** Maximum bytes of the headers of one part. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum bytes of a text field. Files are limited only by the size of the body. */
const MAX_FIELD_BYTES = 1024 * 1024;

const CRLF = '\r\n';
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Finds the parts of a multipart form. Does not copy their content. Throws InvalidInput for a form that violates RFC
 * 7578, that is truncated, or that has too many parts or too long headers.
 */
export function readForm(body: Uint8Array, contentType: string): Form {
  const boundary = boundaryOf(contentType);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const opening = Buffer.from(`--${boundary}`, 'latin1');
  const delimiter = Buffer.from(`${CRLF}--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  // Some clients send a line break before the first delimiter.
  let start = bytes[0] === CR && bytes[1] === LF ? 2 : 0;
  if (!opening.equals(bytes.subarray(start, start + opening.length)))
    throw invalidForm('it does not begin with its boundary');
  for (;;) {
    const afterBoundary = start + opening.length;
    const isLastBoundary = bytes[afterBoundary] === DASH && bytes[afterBoundary + 1] === DASH;
    if (isLastBoundary) {
      const afterForm = afterBoundary + 2;
      const trailing = bytes.toString('latin1', afterForm, afterForm + CRLF.length + 1);
      if (trailing !== '' && trailing !== CRLF) throw invalidForm('data follows its last boundary');
      return { boundary, bytes, parts, end: start };
    }
    if (parts.length === MAX_PARTS) throw invalidForm(`it has more than ${MAX_PARTS} parts`);
    const headersStart = afterLine(bytes, afterBoundary);
    const headersLength = bytes.subarray(headersStart, headersStart + MAX_HEADER_BYTES).indexOf(HEAD_END);
    if (headersLength === -1) throw invalidForm('the headers of a part do not end, or are too long');
    const headersEnd = headersStart + headersLength;
    const bodyStart = headersEnd + HEAD_END.length;
    // The search begins before the line break that ends the headers. When this line break already belongs to the
    // delimiter, parsers read the part differently, so the form is rejected.
    const bodyEnd = bytes.indexOf(delimiter, bodyStart - CRLF.length);
    if (bodyEnd < bodyStart) throw invalidForm('it does not end with its boundary');
    const headers = headersOf(bytes.toString('utf8', headersStart, headersEnd));
    parts.push({ ...headers, start, bodyStart, bodyEnd });
    start = bodyEnd + CRLF.length;
  }
}

/**
 * Offset after the line break of a delimiter. Spaces and tabs may precede the line break. Throws InvalidInput for other
 * characters.
 */
function afterLine(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw invalidForm('its boundary is not followed by a line break');
  return at + CRLF.length;
}

/** Name of a part without the `[]` suffix of list items. */
export const listName = (name: string): string => (name.endsWith('[]') ? name.slice(0, -2) : name);

/**
 * A form as an object: fields are strings, lists are arrays, files are `FormFile`. Throws InvalidInput for a repeated
 * field that is not a list, because parsers differ in which value they use. Also throws for a text field that is
 * too long or not UTF-8.
 */
export function fieldsOf(form: Form): JsonObject {
  const fields = new Map<string, unknown[]>();
  for (const part of form.parts) {
    const name = listName(part.name);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [valueOf(form, part)]);
    else if (part.filename === null && name === part.name) throw repeatedField(name);
    else values.push(valueOf(form, part));
  }
  const lists = new Set(form.parts.filter(({ name }) => name.endsWith('[]')).map(({ name }) => listName(name)));
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, lists.has(name) || values.length > 1 ? values : values[0]]),
  );
}

function valueOf(form: Form, part: FormPart): string | FormFile {
  const { filename, contentType, bodyStart, bodyEnd } = part;
  return filename === null ? textOf(form, part) : { filename, contentType, bytes: bodyEnd - bodyStart };
}

function repeatedField(name: string): ReturnType<typeof invalidForm> {
  return invalidForm(`the field "${name}" comes twice`);
}

/** Text of a field. Throws InvalidInput when it has more than `MAX_FIELD_BYTES` or is not UTF-8. */
function textOf(form: Form, { name, bodyStart, bodyEnd }: FormPart): string {
  if (bodyEnd - bodyStart > MAX_FIELD_BYTES) throw invalidForm(`the field "${name}" is too long`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(form.bytes.subarray(bodyStart, bodyEnd));
  } catch {
    throw invalidForm(`the field "${name}" is not UTF-8`);
  }
}

/** `Content-Type` header of a form. */
export function contentTypeOf({ boundary }: Form): string {
  const needsQuotes = !/^[0-9A-Za-z'+_\-.]+$/.test(boundary);
  return `multipart/form-data; boundary=${needsQuotes ? `"${boundary}"` : boundary}`;
}

/**
 * The form with some parts changed or removed, as pieces to send in order. Unchanged bytes are not copied. `change` is
 * called once for each part. It returns the new text of a field or the new content of a file in pieces. Null removes
 * the part, undefined keeps it. `added` fields are appended.
 */
export function withParts(
  form: Form,
  change: (part: FormPart) => string | readonly Uint8Array[] | null | undefined,
  added: Readonly<Record<string, string>> = {},
): readonly Uint8Array[] {
  const { bytes, parts, boundary, end } = form;
  const pieces: Uint8Array[] = [];
  /** Offset up to which the form is in `pieces`, changed or removed. */
  let copiedTo = parts[0]?.start ?? end;
  const copyUpTo = (to: number): void => {
    if (to > copiedTo) pieces.push(bytes.subarray(copiedTo, to));
  };
  for (const [index, part] of parts.entries()) {
    const changed = change(part);
    if (changed === undefined) continue;
    if (changed === null || typeof changed === 'string') {
      copyUpTo(part.start);
      if (changed !== null) pieces.push(fieldPart(boundary, part.name, changed));
      copiedTo = parts[index + 1]?.start ?? end;
    } else {
      copyUpTo(part.bodyStart);
      pieces.push(...changed);
      copiedTo = part.bodyEnd;
    }
  }
  copyUpTo(end);
  for (const [name, text] of Object.entries(added)) pieces.push(fieldPart(boundary, name, text));
  pieces.push(Buffer.from(`--${boundary}--${CRLF}`, 'latin1'));
  return pieces;
}

function fieldPart(boundary: string, name: string, text: string): Uint8Array {
  const head = `--${boundary}${CRLF}Content-Disposition: form-data; name="${name}"${CRLF}${CRLF}`;
  return Buffer.from(`${head}${text}${CRLF}`);
}

/**
 * A form for the upstream, in pieces to send in order. Sets the upstream's model name, even when the form has no model.
 * Removes the gateway fields, and `metadata`, which only the gateway reads in forms. Other parts keep their bytes.
 */
export function upstreamForm(form: Form, upstreamModel: string): readonly Uint8Array[] {
  const added = form.parts.some(({ name }) => name === 'model') ? {} : { model: upstreamModel };
  return withParts(form, ({ name }) => upstreamValueOf(name, upstreamModel), added);
}

function upstreamValueOf(name: string, upstreamModel: string): string | null | undefined {
  if (name === 'model') return upstreamModel;
  const [member = ''] = name.split('[', 1);
  return isGatewayField(member) || member === 'metadata' ? null : undefined;
}
