import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a configuration for nginx as a key-checking reverse proxy with one worker. Returns the command that runs it.
 */
export function nginxCommand(
  folder: string,
  { port, upstreamPort, key }: { readonly port: number; readonly upstreamPort: number; readonly key: string },
): readonly string[] {
  const scratch = join(folder, 'nginx');
  mkdirSync(scratch, { recursive: true });
  const scratchPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((use) => `${use}_temp_path ${scratch}/${use};`)
    .join(' ');
  const config = `
daemon off; worker_processes 1; pid ${scratch}/nginx.pid; error_log ${scratch}/error.log warn;
events { worker_connections 4096; }
http {
  access_log off; ${scratchPaths}
  keepalive_requests 100000000; keepalive_timeout 120s; tcp_nodelay on;
  client_body_buffer_size 1m; client_max_body_size 64m;
  map $http_authorization $known { default 0; "Bearer ${key}" 1; }
  upstream model { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200; }
    location / {
      if ($known = 0) { return 401; }
      proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer sk-upstream"; proxy_buffering off;
    }
  }
}
`;
  const file = join(scratch, 'nginx.conf');
  writeFileSync(file, config);
  return ['nginx', '-p', scratch, '-c', file];
}
