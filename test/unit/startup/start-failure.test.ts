import { expect, it } from 'vitest';
import { startFailureText } from '../../../src/startup/start-failure.ts';

const SETTINGS = { host: '127.0.0.1', port: 80, databaseUrl: 'sqlite:///locked/sub/x.db', dataDir: '.lensgate' };

const noPermission = (facts: object): Error =>
  Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', ...facts });

it('a start without permission for a folder names the folder, not the port', () => {
  expect(startFailureText(noPermission({ syscall: 'mkdir', path: '/locked/sub' }), SETTINGS)).toBe(
    'the user of this process has no permission to use /locked/sub.',
  );
});

it('a start without permission for the port names the port', () => {
  expect(startFailureText(noPermission({ syscall: 'listen', address: '127.0.0.1', port: 80 }), SETTINGS)).toBe(
    'port 80 on 127.0.0.1 may not be opened by this user. Choose another with --port.',
  );
});
