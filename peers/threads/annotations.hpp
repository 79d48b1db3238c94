// Words that tell clang which lock guards what (-Wthread-safety). Other compilers see nothing.
//
// What each one means: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html. clang checks every
// source in the build with TSan; an access without the lock is an error there.
#pragma once

#ifdef __clang__
#define HEARSAY_THREAD_ATTRIBUTE(what) __attribute__((what))
#else
#define HEARSAY_THREAD_ATTRIBUTE(what)
#endif

// Of a type: its objects are locks, or hold one for as long as they live.
#define CAPABILITY(name) HEARSAY_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY HEARSAY_THREAD_ATTRIBUTE(scoped_lockable)

// Of a member: read and written only under this lock.
#define GUARDED_BY(lock) HEARSAY_THREAD_ATTRIBUTE(guarded_by(lock))

// Of a function: its caller holds the lock, or must not hold it.
#define REQUIRES(...) HEARSAY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) HEARSAY_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) HEARSAY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// Of a function: takes the lock, or lets it go.
#define ACQUIRE(...) HEARSAY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) HEARSAY_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) HEARSAY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) HEARSAY_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) HEARSAY_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define RETURN_CAPABILITY(lock) HEARSAY_THREAD_ATTRIBUTE(lock_returned(lock))

// Of a function whose caller holds the lock by another name: after the call, clang takes the lock
// for held until the caller returns.
#define ASSERT_CAPABILITY(lock) HEARSAY_THREAD_ATTRIBUTE(assert_capability(lock))

// Of a function that the analysis cannot follow; a comment beside it says why it is right.
#define NO_THREAD_SAFETY_ANALYSIS HEARSAY_THREAD_ATTRIBUTE(no_thread_safety_analysis)
