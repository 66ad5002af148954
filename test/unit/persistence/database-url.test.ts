import { describe, expect, it } from 'vitest';
import { Unsupported } from '../../../src/domain/errors.ts';
import { locateDatabase } from '../../../src/persistence/database/database-url.ts';

describe('an address of a SQLite file', () => {
  it('names the file', () => {
    expect(locateDatabase('sqlite:///srv/x%20y.db', '/data')).toEqual({ kind: 'sqlite', file: '/srv/x y.db' });
    expect(locateDatabase('file:/srv/x.db', '/data')).toEqual({ kind: 'sqlite', file: '/srv/x.db' });
  });

  it.each(['sqlite://data/x.db', 'sqlite:%zz'])('with a host or an invalid escape is refused: %s', (url) => {
    expect(() => locateDatabase(url, '/data')).toThrow(
      new Unsupported('The database URL is not the address of a file: write sqlite:///path or sqlite:path.'),
    );
  });
});
