import '../../lite/imports-the-server.ts';
