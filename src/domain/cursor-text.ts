/** A cursor: a JSON list as opaque, URL-safe text. */
export const cursorText = (state: readonly unknown[]): string =>
  new TextEncoder().encode(JSON.stringify(state)).toBase64({ alphabet: 'base64url', omitPadding: true });

/** The list of a cursor; empty for a text that is not a cursor. */
export function cursorState(cursor: string): readonly unknown[] {
  try {
    const state: unknown = JSON.parse(
      new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })),
    );
    return Array.isArray(state) ? (state as readonly unknown[]) : [];
  } catch {
    return [];
  }
}
