import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import type { DashboardFile, DashboardFiles } from '../../../rest-shims/dashboard.ts';

// Bundles the browser code of the dashboard on a worker thread. The memory of the bundler's JavaScript and of the
// compressor is released when the thread ends.

const SOURCES = fileURLToPath(new URL('../../dashboard/', import.meta.url));

async function bundle(): Promise<string> {
  const build = await rolldown({
    cwd: SOURCES,
    input: './main.tsx',
    platform: 'browser',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    logLevel: 'silent',
  });
  try {
    const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

function fileOf(text: string, contentType: string): DashboardFile {
  const bytes = Buffer.from(text);
  return {
    contentType,
    etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
    plain: bytes,
    gzip: gzipSync(bytes),
    brotli: brotliCompressSync(bytes),
  };
}

const files: DashboardFiles = {
  script: fileOf(await bundle(), 'text/javascript; charset=utf-8'),
  style: fileOf(readFileSync(join(SOURCES, 'style.css'), 'utf8'), 'text/css; charset=utf-8'),
};
parentPort?.postMessage(files);
