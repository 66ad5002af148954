import '../src/domain/imports-the-gateway.ts';
