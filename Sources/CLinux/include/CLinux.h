#ifndef CLINUX_H
#define CLINUX_H
#endif
